"""What the API server fills into an object before it is stored: defaults and the admission plugins that the scheduler relies on."""
