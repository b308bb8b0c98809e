"""What people see of stored sessions: `found_words` shows what a search found."""
