"""A classroom's pages: the teacher's desk, the students' page, the way in, and the results."""
