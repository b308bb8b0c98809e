"""Follows the runs that are alive, and notifies browsers of changes."""
