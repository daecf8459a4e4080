"""What `python manage.py explain` is made of beside terminal/: the answers about pods, and how they are printed."""
