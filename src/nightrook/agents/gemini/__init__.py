"""Gemini CLI: `adapter` describes it, `command` starts it, `reader` decodes its stream.

Importing a part of it, as the reader of its stored sessions, imports no other.
"""
