"""Commands for what a run changed."""
