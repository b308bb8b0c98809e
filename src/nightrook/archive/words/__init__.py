"""The words of stored sessions: `documents` says what is indexed, `index` fills, `search` finds."""
