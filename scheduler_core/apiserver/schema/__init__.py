"""Which fields objects have: for telling unknown ones, and for merging lists by their keys."""
