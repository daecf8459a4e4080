"""The Django project and its one app: sessions, streaming, pages."""
