"""The fields of objects: for errors about unknown ones, and for merging lists by their keys."""
