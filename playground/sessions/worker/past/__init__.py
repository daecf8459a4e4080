"""What was: the worlds of steps and attempts that are past, and where a viewer stands among them."""
