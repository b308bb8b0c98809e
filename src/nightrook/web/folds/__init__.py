"""One decoder and one fold for each run that is shown, however many viewers it has."""
