"""What differs between operating systems: one module for each, with the same functions."""
