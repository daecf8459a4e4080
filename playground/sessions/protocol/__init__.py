"""What the web process and its workers say to each other. Both sides import this; it imports neither."""
