"""Runs an agent again until the work is done, within limits."""
