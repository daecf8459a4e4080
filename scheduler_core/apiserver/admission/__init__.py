"""Fields that the API server sets before an object is stored: defaults, and the admission plugins that affect the scheduler."""
