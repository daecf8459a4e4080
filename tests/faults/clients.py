"""Clients that go on whatever happens to the servers, and remember what was acknowledged to them."""

from __future__ import annotations

import itertools
import threading
import time
from abc import ABC, abstractmethod
from collections import defaultdict
from http.client import HTTPException
from random import Random

from tests.faults.visitor import Visitor
from tests.playground.sessions.wire import Closed, Wire

START = "cluster:zones"
LATER = 0.1  # seconds until a client that was turned away comes again
# So often in a row a session may refuse: one that was in a worker's way too often takes no changes for a minute.
PATIENCE = 6
FAILURES = (OSError, HTTPException, Closed)


class Refused(Exception):
    """The server said that it did not do it."""


class Ledger:
    """What was acknowledged: the names of pods by session, each made by a command of its own, and how far each session was seen."""

    def __init__(self) -> None:
        self.names: dict[str, list[str]] = defaultdict(list)
        self.seen: dict[str, int] = defaultdict(int)
        self.count = 0
        self._lock = threading.Lock()

    def sessions(self) -> list[str]:
        with self._lock:
            return list(self.names)

    def add_session(self, key: str) -> None:
        with self._lock:
            self.names[key] = []

    def command(self, key: str, name: str) -> None:
        """The server said that it was done."""
        with self._lock:
            self.names[key].append(name)
            self.count += 1

    def step(self, key: str, position: int) -> None:
        """The server showed what a step led to."""
        with self._lock:
            self.count += 1
        self.look(key, position)

    def look(self, key: str, position: int) -> None:
        """The server showed a session at a position."""
        with self._lock:
            self.seen[key] = max(self.seen[key], position)


class Client(ABC):
    """A thread with a random stream of its own; it uses one server, and any of the sessions."""

    def __init__(self, number: int, url: str, ledger: Ledger, seed: int) -> None:
        self.number = number
        self.url = url
        self.ledger = ledger
        self.random = Random(f"{seed} {number}")
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, name=f"client {number}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop after what is under way."""
        self._over.set()

    def wait(self) -> None:
        self._thread.join(60)
        assert not self._thread.is_alive(), f"client {self.number} hangs"

    def _work(self) -> None:
        refused = 0
        while not self._over.is_set():
            try:
                if self.act(self._choose(refused)):
                    refused = 0
                    continue
                refused += 1
            except FAILURES:
                pass  # nobody is there to refuse anything
            time.sleep(LATER)

    def _choose(self, refused: int) -> str:
        sessions = self.ledger.sessions()
        if refused < PATIENCE and sessions:
            return self.random.choice(sessions)
        key = Visitor(self.url).new_session(START)
        self.ledger.add_session(key)
        return key

    @abstractmethod
    def act(self, key: str) -> bool:
        """Do something with a session; whether it was acknowledged."""


class Builder(Client):
    """Sends commands by a form: each makes a pod with a name of its own."""

    def __init__(self, number: int, url: str, ledger: Ledger, seed: int) -> None:
        super().__init__(number, url, ledger, seed)
        self._visitor = Visitor(url, patience=20)
        self._numbers = itertools.count(1)

    def act(self, key: str) -> bool:
        name = f"pod-{self.number}-{next(self._numbers)}"
        answer = self._visitor.send(f"/s/{key}/yaml", {"text": pod(name), "create": "1"})
        if answer.status != 302:
            return False
        self.ledger.command(key, name)
        return True


class Stepper(Client):
    """Steps and plays over a socket."""

    def act(self, key: str) -> bool:
        wire = Wire(self.url, key)
        try:
            wire.send({"type": "look", "look": {}, "seen": None})
            seen = self._next(wire, key)
            if self.random.random() < 0.2:
                wire.send({"type": "play", "grain": "call", "rate": 40})
                self._next(wire, key, seen + 5)
                wire.send({"type": "pause"})
                return True
            for _ in range(self.random.randint(1, 8)):
                wire.send({"type": "step", "grain": "call"})
                seen = self._next(wire, key, seen + 1)
                self.ledger.step(key, seen)
            return True
        except Refused:
            return False
        finally:
            wire.close()

    def _next(self, wire: Wire, key: str, wanted: int = 0) -> int:
        """The position of the next delta from `wanted` on. Raises Refused where that won't come."""
        while True:
            message = wire.receive(20)
            if message["type"] in ("error", "idle", "gone"):
                raise Refused(message.get("message", ""))
            if message["type"] == "delta":
                self.ledger.look(key, message["seq"])
                if message["seq"] >= wanted:
                    return int(message["seq"])


def pod(name: str) -> str:
    """A small pod as YAML."""
    return (
        f"apiVersion: v1\nkind: Pod\nmetadata:\n  name: {name}\nspec:\n"
        "  containers:\n    - name: main\n      image: pause\n      resources: {requests: {cpu: 10m}}\n"
    )
