"""The answers of the protocol: lists, runs, items, bodies, questions."""
