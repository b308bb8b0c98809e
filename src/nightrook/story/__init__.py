"""From recorded bytes to records: reads logs by position, detects the agent, decodes, folds."""
