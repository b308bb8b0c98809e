"""The story of a run or session as one object: logs read by position, decoded, folded, followed."""
