"""Codex CLI, run as `codex exec --json` or `codex app-server`: `adapter` describes it.

Importing a part of it, as the reader of its stored sessions, imports no other.
"""
