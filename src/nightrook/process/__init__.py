"""Processes: the recorder, process trees, and the programs that are installed."""
