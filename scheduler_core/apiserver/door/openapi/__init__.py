"""The OpenAPI documents of a session's API: v3, and v2, which is made of these."""
