"""What every test can use. Tests of scheduler_core need none of it: they build their worlds with scheduler_core.testing."""

import atexit
import gc
import os
import shutil
import tempfile

import pytest
from hypothesis import HealthCheck, settings

# Before Django reads its settings: tests write to a folder of their own and never to the developer's database.
DATA_DIR = tempfile.mkdtemp(prefix="playground-tests-")
atexit.register(shutil.rmtree, DATA_DIR, ignore_errors=True)
os.environ["DATA_DIR"] = DATA_DIR
for name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "ALLOWED_HOSTS", "DEBUG"):
    os.environ.pop(name, None)

# Every test by hypothesis takes its settings from here (tests/test_architecture.py looks). No deadline and no check of how long examples
# take to make: both go by the wall clock, so a busy machine fails them. No check of how many are thrown away or grow too large: a
# state machine's rules ask much of their examples. The usual profile makes the same examples each time.
_CHECKS_OFF = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)
settings.register_profile("usual", max_examples=100, deadline=None, derandomize=True, suppress_health_check=_CHECKS_OFF)
settings.register_profile(
    "thorough", max_examples=1000, deadline=None, suppress_health_check=_CHECKS_OFF, print_blob=True
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "usual"))

# The files that take longest, the slowest first. xdist would begin with those of the most tests, and a long one begun last keeps a
# core busy alone.
LONGEST = (
    "tests/browser/test_studio.py",
    "tests/hostile/test_hostile.py",
    "tests/playground/test_live_cluster.py",
    "tests/door/test_transcripts.py",
    "tests/faults/test_disk.py",
    "tests/faults/test_processes.py",
    "tests/test_contributing.py",
    "tests/playground/sessions/web/test_server.py",
    "tests/playground/sessions/web/test_redis.py",
    "tests/playground/sessions/web/test_views.py",
    "tests/playground/lessons/test_variants.py",
)


def pytest_configure(config: pytest.Config) -> None:
    """Hand files out in the order of their collection, and collect no garbage meanwhile: it stays."""
    config.option.loadscopereorder = False
    gc.disable()


def pytest_collection_finish() -> None:
    """Let no pass go over the modules and tests, as a worker's process does."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(100_000, 20, 20)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest."""
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.nodeid.split("::")[0], len(places)))
