"""Formats of stored sessions that several agents write."""
