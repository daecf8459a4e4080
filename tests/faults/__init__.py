"""What happens when a part of an installation goes away: a database, Redis or a server process, each started and killed for real."""
