"""Commands for what a run changed in a repository."""
