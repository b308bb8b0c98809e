"""Kimi Code: `history` reads the sessions that it keeps on disk; it cannot be run."""
