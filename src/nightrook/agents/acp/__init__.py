"""The Agent Client Protocol: `adapter` describes who speaks it, `dialects` how they differ.

`client` leads an agent through the protocol, and `reader` decodes what it writes.
"""
