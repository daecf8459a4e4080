"""The components around the schedulers."""
