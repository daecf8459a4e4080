"""What takes long and is asked for beside a session's life."""
