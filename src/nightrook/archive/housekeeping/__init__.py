"""What `rook gc` does: `run_logs` compresses logs, `kept_text` and `kept_copies` forget."""
