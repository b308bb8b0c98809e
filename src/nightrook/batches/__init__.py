"""Many tasks side by side, within one budget."""
