"""Whatever happened, as one object: logs read by position, decoded, folded, and followed."""
