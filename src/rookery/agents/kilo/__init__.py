"""Kilo CLI: only its stored sessions are read, by `history`."""
