"""Pages with data from a world, one folder each: query, worker, presenter, and views."""
