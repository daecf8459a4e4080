"""Sessions in the database: log, checkpoints, markers, previews. Synchronous; runs in threads of its own."""
