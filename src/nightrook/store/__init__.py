"""Everything Nightrook keeps on disk: its folders, file names and formats."""
