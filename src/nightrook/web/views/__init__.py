"""What the protocol returns: lists, runs, items, bodies, questions."""
