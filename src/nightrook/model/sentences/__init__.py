"""Parts of the sentences that report how a run ended."""
