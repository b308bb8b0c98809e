"""The options of the commands that read what agents keep on disk."""
