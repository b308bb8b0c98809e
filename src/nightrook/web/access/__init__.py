"""Who may come in: hosts, origins, the token, and what every answer tells a browser."""
