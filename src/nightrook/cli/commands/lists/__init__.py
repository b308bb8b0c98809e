"""Commands that list runs and batches."""
