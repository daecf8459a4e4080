"""What objects use of a quota, and which quotas count them."""
