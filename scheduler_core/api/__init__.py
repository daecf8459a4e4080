"""The simulated API server: objects by kind and name, watches, validation, admission, binding and deletion."""
