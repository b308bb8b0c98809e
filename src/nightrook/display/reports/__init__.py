"""Reports of runs, loops and batches: one value, and that value as Markdown, XML and JSON."""
