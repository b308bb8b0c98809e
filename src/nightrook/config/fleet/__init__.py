"""The options of the commands that are about a fleet."""
