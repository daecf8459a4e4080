"""What happened in a world: records, and the journal that is kept of them."""
