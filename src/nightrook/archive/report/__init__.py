"""The report on usage: grouped, filtered, in local time, with notes."""
