"""A repository's way to a worker and back, as files: bundles of commits, and archives of files."""
