"""Limits of what clients may take: connections, sockets, uploads; and what that needs of Twisted and Daphne."""
