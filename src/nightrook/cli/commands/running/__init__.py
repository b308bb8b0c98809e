"""Commands for what other processes run."""
