"""Requests that write: objects applied, patched and deleted, all or none; and the plan of an import before anything is done."""
