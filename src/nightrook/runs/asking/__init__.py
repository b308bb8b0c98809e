"""Decisions from other processes: a socket at which a runner takes them, and its client."""
