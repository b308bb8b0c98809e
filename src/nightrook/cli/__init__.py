"""The `rook` command: words in, exit codes out."""

import gc

# Before anything else is imported: Python's default, 700, makes it look for garbage dozens of times
# while the modules are loaded, and they leave none.
gc.set_threshold(50_000)
