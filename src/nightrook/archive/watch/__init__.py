"""Sessions and runs as they happen: what changes on disk is noticed, read and folded."""
