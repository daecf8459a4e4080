"""Parts of every page and process: addresses of clients, compression, log lines, and what the server counts."""
