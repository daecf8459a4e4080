"""The worker process: the engines of sessions. No Django, no database."""
