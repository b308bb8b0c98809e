"""Access to the server: hosts, origins, the token, and the security headers of every answer."""
