"""Users' own lessons: written, checked, downloaded, and shared with learners."""
