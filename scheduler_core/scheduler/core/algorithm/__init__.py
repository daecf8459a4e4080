"""The scheduling algorithm: from the snapshot to the chosen node or the refusal, one plugin at a time. Needs no world."""
