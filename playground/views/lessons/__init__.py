"""Lessons of people's own: made, checked, taken with one, and handed to learners."""
