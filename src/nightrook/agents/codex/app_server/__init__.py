"""`codex app-server`, the second way to run Codex: JSON-RPC, one message per line."""
