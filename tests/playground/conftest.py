"""What tests of the Django project share."""

import pytest

from playground.sessions.web import checkpoint_saver


@pytest.fixture(autouse=True)
def nothing_is_saved_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session that goes quiet saves its checkpoints a second later: by then a test's database is gone. Closing one saves them, too."""
    monkeypatch.setattr(checkpoint_saver, "QUIET", 3600.0)
