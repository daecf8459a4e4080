"""What else acts on the objects of a cluster: its controllers, each a room of one file or folder (contract.py says what a room has)."""
