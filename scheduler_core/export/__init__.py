"""What leaves a world: its trace as lines of JSON, the check of such a trace by computing it again, and digests of attempts."""
