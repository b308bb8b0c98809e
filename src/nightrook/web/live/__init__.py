"""Follows the runs that are alive, and tells browsers what has changed."""
