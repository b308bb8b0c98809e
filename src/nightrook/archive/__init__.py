"""The archive of stored sessions: each file is read once, each call counted once, in a ledger."""
