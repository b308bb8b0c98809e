"""OpenCode and its fork Kilo CLI: `adapter` describes both, `command` starts them.

They write streams of finished parts: texts, calls and steps, each whole. `reader` decodes the
streams and the stored sessions, and `history` says where those are. Importing a part of the package
imports no other that it does not need.
"""
