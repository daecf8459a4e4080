"""Two sessions side by side under one transport."""
