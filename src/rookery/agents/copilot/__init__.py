"""GitHub Copilot CLI: `history` reads the sessions that it keeps on disk; it cannot be run."""
