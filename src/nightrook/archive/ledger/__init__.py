"""The ledger of all calls that were read: a SQLite file that outlives its sources."""
