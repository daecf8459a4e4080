"""Pages about what has happened: records, what changed, the timeline as a table, breakpoints and bookmarks."""
