"""All that is known of `codex app-server`, the second way to run Codex: JSON-RPC, a line each."""
