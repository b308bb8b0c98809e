"""The differences between operating systems: one module for each, with the same functions."""
