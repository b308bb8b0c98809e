"""The permission prompt: its rows, divided into pages."""
