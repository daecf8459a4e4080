"""`python -m playground.sessions.worker <bytes>`: a worker process."""

from playground.sessions.worker.process import main

main()
