"""`rook fleet` and `rook worker`: runs on many machines."""
