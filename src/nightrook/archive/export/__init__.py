"""Stored sessions for other programs: `tables` has the rows, `writers` writes them."""
