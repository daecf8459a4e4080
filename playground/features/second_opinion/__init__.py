"""An external scheduler on a fork of a session: its decisions compared with those of our scheduler."""
