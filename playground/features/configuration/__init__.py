"""The schedulers' configurations, as text and as forms."""
