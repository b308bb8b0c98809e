"""The boss of a fleet: asks for runs, follows them, pays for each once, and says what is lost."""
