"""Amp, from its documentation and its program: `adapter` describes it.

Importing a part of it, as the reader of its stored sessions, imports no other.
"""
