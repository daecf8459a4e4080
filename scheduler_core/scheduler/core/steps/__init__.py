"""The steps of a scheduler: scheduling and binding cycles, evictions, API calls, and informer events."""
