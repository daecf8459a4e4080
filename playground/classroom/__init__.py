"""Classrooms: a teacher's session that a room of students follows, with polls whose keys the engine computes (docs/classroom.md)."""
