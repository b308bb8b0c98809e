"""What happened, in neutral terms: events, records, state, money, verdict. No I/O, no clock."""
