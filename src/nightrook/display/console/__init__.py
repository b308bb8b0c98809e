"""The terminal itself: its width, colours, links, screen, tables and laid-out Markdown."""
