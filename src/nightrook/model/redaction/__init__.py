"""Secrets in text: their shapes, the sources of their values, and their replacement."""
