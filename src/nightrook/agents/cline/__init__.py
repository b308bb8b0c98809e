"""Cline CLI: `adapter` describes it, `command` starts it, `reader` decodes `cline --json`."""
