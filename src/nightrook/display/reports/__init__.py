"""What a run, a loop or a batch came to, as one value, and that value as Markdown, XML and JSON."""
