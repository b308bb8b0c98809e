"""The pure heart: events, lines, the decoder contract, safe text and errors; no I/O, no clock."""
