"""The scheduling queue: waiting pods by place, the rules of moves, the pods in flight, and the nominated pods by node."""
