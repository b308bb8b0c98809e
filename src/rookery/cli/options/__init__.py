"""The options that commands share, their types and defaults."""
