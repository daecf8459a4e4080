"""The scheduling queue: which pod waits where, when it moves, who is in flight, and which pods are nominated to which node."""
