"""The user's inputs besides objects, read and validated: programs of containers, and resource usage."""
