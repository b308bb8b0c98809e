"""Goose: only its stored sessions are read, by `history`."""
