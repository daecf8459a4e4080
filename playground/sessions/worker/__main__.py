"""`python -m playground.sessions.worker <bytes>`: a worker process."""

import gc

gc.disable()  # until all is imported: passes over what stays would take a tenth of the start

from playground.sessions.worker.process import main  # noqa: E402

main()
