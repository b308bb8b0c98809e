"""Secrets in text: what they look like, where their values come from, how they are replaced."""
