"""The OpenAPI documents of what a session serves: v3, and v2 made of these."""
