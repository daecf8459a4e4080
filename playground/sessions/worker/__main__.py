"""`python -m playground.sessions.worker`: fork workers that have imported all modules, on orders through standard input, a socket."""

import gc
import os
import select
import signal
import socket

gc.disable()  # during imports: collections would take a tenth of the start, and free nothing

from playground.sessions.protocol.wire import ORDER, REPORT, STARTED  # noqa: E402
from playground.sessions.worker.process import run_worker, tune_garbage_collection  # noqa: E402


def serve(orders: socket.socket) -> None:
    """Fork a worker for each order, and report each start and end, until the other end of the socket is closed."""
    waking, woken = socket.socketpair()
    woken.setblocking(False)
    signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
    # Python writes to the wakeup socket only for signals that have a handler.
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        ready, _, _ = select.select([orders, waking], [], [])
        if waking in ready:
            waking.recv(4096)
            report_ended(orders)
        if orders in ready:
            order, files, _, _ = socket.recv_fds(orders, ORDER.size, 2)
            if not order:
                return
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for end in (orders, waking, woken):
                    end.close()
                (connection, at_work), (memory, idle) = files, ORDER.unpack(order)
                run_worker(connection, at_work, memory, idle)
                os._exit(0)  # not sys.exit: the inherited cleanup handlers belong to the parent
            for file in files:
                os.close(file)
            orders.sendall(REPORT.pack(pid, STARTED))


def report_ended(orders: socket.socket) -> None:
    """Report the workers that have ended since the last call."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        orders.sendall(REPORT.pack(pid, os.waitstatus_to_exitcode(status)))


if __name__ == "__main__":
    tune_garbage_collection()
    orders = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # a worker's stdout goes to stderr
    serve(orders)
