"""Reports of runs, loops and batches, and where they go."""
