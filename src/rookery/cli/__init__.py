"""The `rook` command: words in, exit codes out."""
