"""Attacks of an agent, or of what it starts, on those who watch it."""
