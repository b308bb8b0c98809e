"""The boss of a fleet: submits runs, follows them, pays for each once, and reports lost ones."""
