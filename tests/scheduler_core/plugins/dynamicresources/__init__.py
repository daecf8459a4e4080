"""DynamicResources."""
