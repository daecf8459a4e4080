"""The scheduler's API client: waiting and running calls, their latency, and their retries."""
