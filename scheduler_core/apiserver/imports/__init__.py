"""Many objects at once, which are said to be there: all are taken or none, and what would become of each can be told before."""
