"""The neutral model of what happened: events, records, state, money, verdict. No I/O, no clock."""
