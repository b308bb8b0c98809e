"""What agents keep on disk: read once, counted once, and kept in a ledger of our own."""
