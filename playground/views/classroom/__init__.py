"""A classroom's pages: the teacher's desk, the students' page, joining, and the results."""
