"""The controller of volumes: what it hears (controller.py), what it does (actions.py) and how (claims.py)."""
