"""The panels' templates: Jinja2, which compiles them to Python, with the tags and filters of all other templates."""
