"""Who learns that a run, a loop or a batch has ended: a command, services, the desktop.

It reads reports, which `display` makes of a run's state.
"""
