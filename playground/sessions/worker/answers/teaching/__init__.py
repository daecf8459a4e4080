"""What is asked of an engine to teach with it: what an attempt will come to, and what a lesson can be made of."""
