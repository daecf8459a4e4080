"""The pages that ask a world something, one folder each: query, worker, presenter, and views."""
