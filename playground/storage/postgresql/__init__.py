"""Django's PostgreSQL backend, whose connections outlive the server's restarts, and which waits for nothing longer than it says."""
