"""Loops and batches as lines of text and rows of tables."""
