"""Says events in words a person can read."""
