"""Repositories on their way to a worker and back."""
