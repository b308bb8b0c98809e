"""Full-text search over the stored sessions of all agents."""
