"""An outage of the database, or of its write lock, as all threads of this process see it.

Threads that need a connection wait during a short outage. During a longer one, they fail at once and only occasionally one tries; the
first connection ends the outage.
"""

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from queue import Empty, SimpleQueue
from typing import Protocol, TypeVar

from django.conf import settings
from django.db.utils import OperationalError

log = logging.getLogger(__name__)

# Seconds between two attempts, and for one attempt with all that belongs to it.
PAUSE = 0.25
ATTEMPT = 4.0


class Limits:
    """The maximum duration of a statement in seconds. A web server sets it; commands such as migrate have none."""

    statement: float | None = None


_patient: ContextVar[bool] = ContextVar("patient", default=True)


class Closable(Protocol):
    """A connection that can be closed."""

    def close(self) -> None: ...


C = TypeVar("C", bound=Closable)


class DatabaseAway(OperationalError):
    """No connection was made, so nothing was done."""


class Outage:
    """An outage. `begins` and `ends` are its log messages. `distrusted` counts hanging connections; earlier connections are not trusted
    afterwards.
    """

    def __init__(self, begins: str = "the database does not answer", ends: str = "the database answers again") -> None:
        self.distrusted = 0
        self._words = begins, ends
        self._began: float | None = None
        self._met = 0.0
        self._tried = 0.0
        self._lock = threading.Lock()
        self._attempt = threading.Lock()

    @property
    def on(self) -> bool:
        return self._began is not None

    def begin(self, why: object) -> None:
        """Record the start of the outage."""
        with self._lock:
            self._met = time.monotonic()
            if self._began is None:
                self._began = self._met
                log.error("%s: %s", self._words[0], why)

    @property
    def refuses(self) -> bool:
        """True if the caller is impatient and an attempt failed a moment ago, so that another is needless."""
        return self.on and not _patient.get() and time.monotonic() - self._met < PAUSE

    def distrust(self, why: object) -> None:
        """It did not answer on a connection that seemed to be good."""
        self.distrusted += 1
        self.begin(why)

    def connect(self, make: Callable[[], C]) -> C:
        """Connect while the outage is short enough to wait for its end. Raise DatabaseAway."""
        while True:
            try:
                connection = self._one(make) if self.on else in_time(make, lambda: None)
            except Exception as error:
                self.begin(error)
                if self.left() <= 0:
                    raise DatabaseAway(f"The database does not answer: {error}") from error
                time.sleep(PAUSE)
            else:
                self.end()
                return connection

    def _one(self, make: Callable[[], C]) -> C:
        """Make one attempt at a time during an outage, with a pause between two."""
        if not self._attempt.acquire(timeout=max(self.left(), 0.0)):
            raise TimeoutError("another attempt is under way")
        if self.on and time.monotonic() - self._tried < PAUSE:
            self._attempt.release()
            raise TimeoutError("it was tried a moment ago")
        self._tried = time.monotonic()
        return in_time(make, self._attempt.release)

    def left(self) -> float:
        """Return the seconds left to wait."""
        # Read once: another thread may end the outage between the check and the use.
        began = self._began
        if began is None or not _patient.get():
            return 0.0
        return began + settings.DATABASE_WAIT_SECONDS - time.monotonic()

    def end(self) -> None:
        """Record the end of the outage."""
        with self._lock:
            if self._began is not None:
                log.warning("%s after %.1f s", self._words[1], time.monotonic() - self._began)
                self._began = None


def in_time(make: Callable[[], C], done: Callable[[], None]) -> C:
    """Return the result of `make`. Raise TimeoutError after ATTEMPT seconds: a name lookup has no limit of its own.

    `done` is called at the end, even late.
    """
    made: SimpleQueue[C | Exception] = SimpleQueue()
    late = threading.Event()

    def work() -> None:
        try:
            result: C | Exception = make()
        except Exception as error:
            result = error
        finally:
            done()
        made.put(result)
        if late.is_set() and not isinstance(result, Exception):
            result.close()

    # A daemon: an attempt that hangs must not keep the process from ending.
    threading.Thread(target=work, name="connecting", daemon=True).start()
    try:
        result = made.get(timeout=ATTEMPT)
    except Empty:
        late.set()
        raise TimeoutError("no connection was made in time") from None
    if isinstance(result, Exception):
        raise result
    return result


@contextlib.contextmanager
def impatient() -> Iterator[None]:
    """Refuse queries in this context at once while the database is away."""
    token = _patient.set(False)
    try:
        yield
    finally:
        _patient.reset(token)


OUTAGE = Outage()
