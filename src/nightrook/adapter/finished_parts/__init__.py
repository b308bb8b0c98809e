"""Reads streams of finished parts, which several agents write: texts, calls and steps, each whole.

`reader` makes a decoder of the table of messages, `memory` is what it remembers, `shapes` are the
messages, `tools` says what calls did, and `errors` the kinds of errors. An agent adds the names
of its other tools and the fields that it writes.
"""
