"""The worker processes of this web process, and how much room they have."""
