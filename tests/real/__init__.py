"""What people really bring, in small: documents of our own making that reproduce what public ones showed."""
