"""Click parameters from the table of options, and their defaults from the settings."""
