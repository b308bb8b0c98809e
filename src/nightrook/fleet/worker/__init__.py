"""A worker of a fleet: it takes jobs, runs them here, and ships their logs."""
