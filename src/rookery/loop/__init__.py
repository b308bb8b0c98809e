"""Runs an agent again and again until the work is done, and never runs away."""
