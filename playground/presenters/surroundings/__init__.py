"""The components around the schedulers, as pages and stages show them."""
