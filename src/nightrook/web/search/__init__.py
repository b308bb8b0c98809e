"""The search of the page: the index of words filled in the background, and what it finds."""
