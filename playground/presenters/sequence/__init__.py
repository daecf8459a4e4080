"""The arrows of records: from whom to whom."""
