"""The commands of `rook`."""
