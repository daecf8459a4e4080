"""What tests of the Django project share."""

from typing import Any

import pytest

from playground.sessions.web import engine_connection


@pytest.fixture(autouse=True)
def nothing_is_saved_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session that goes quiet saves its checkpoints a second later: by then a test's database is gone. Closing one saves them, too."""
    monkeypatch.setattr(engine_connection, "QUIET", 3600.0)


@pytest.fixture(autouse=True)
def a_busy_machine_opens_sessions_slowly(settings: Any) -> None:
    """A page that has to wait for a new worker process is the page that was asked for, not the one that says how far it is."""
    settings.OPEN_WAIT = 30.0
