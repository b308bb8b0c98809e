"""Claude Code's command line: its names and the flags that make it write a stream."""

PROGRAMS = ("claude",)
"""What the program is called, without folder and `.exe`."""

OUTPUT_FLAGS = ("--output-format", "stream-json", "--verbose")
"""Makes it write a message per line; without `--verbose` the CLI refuses `stream-json`."""
