"""What happened, in sentences: a plugin's step, a record, the present step of a world."""
