"""The stored sessions of agents: `find` finds one, `reader` reads it, `story` shows it."""
