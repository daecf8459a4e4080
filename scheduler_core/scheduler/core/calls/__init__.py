"""The scheduler's API client: which calls wait and run, how long they take, when they are made again."""
