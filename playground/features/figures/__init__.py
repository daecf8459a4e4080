"""Interactive figures: one idea each, with numbers that the engine computes."""
