"""Runs, loops and batches in the background: started there, and followed from any terminal."""
