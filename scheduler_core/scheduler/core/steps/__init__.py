"""What a scheduler does, one step at a time: scheduling and binding cycles, evictions, API calls, and what it hears of."""
