"""Sessions and runs as they happen: changes on disk are noticed, read and folded."""
