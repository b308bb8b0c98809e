"""Notifications that a run, a loop or a batch has ended: to a command, services, the desktop.

It reads reports, which `display` makes of a run's state.
"""
