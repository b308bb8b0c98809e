"""What agents used, as a report: grouped, filtered, in local time, with notes."""
