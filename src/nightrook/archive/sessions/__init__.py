"""The stored sessions of agents, read as events: `find` finds one, `feed` reads it."""
