"""What `python manage.py explain` is made of: a world of the files, the answers about its pods, and how they are printed."""
