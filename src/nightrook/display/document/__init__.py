"""A run as a document to keep or to send: one HTML file, or Markdown."""
