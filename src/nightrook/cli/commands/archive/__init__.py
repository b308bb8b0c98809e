"""The commands of the archive: what agents keep on disk, read, counted and reported."""
