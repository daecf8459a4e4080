"""Claims for devices: creation from templates, reservation and release; and eviction from tainted devices."""
