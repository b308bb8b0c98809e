"""Logs of finished runs, compressed so that any part of them can be read: `rook gc` makes them."""
