"""A run at the terminal: its lines, its keys, its questions and its end."""
