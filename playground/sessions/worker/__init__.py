"""What runs in a worker process: the engines of sessions. No Django, no database."""
