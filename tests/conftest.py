"""What every test can use. Tests of scheduler_core need none of it: they build their worlds with scheduler_core.testing."""

import atexit
import os
import shutil
import tempfile

# Before Django reads its settings: tests write to a folder of their own and never to the developer's database.
DATA_DIR = tempfile.mkdtemp(prefix="playground-tests-")
atexit.register(shutil.rmtree, DATA_DIR, ignore_errors=True)
os.environ["DATA_DIR"] = DATA_DIR
for name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "ALLOWED_HOSTS", "DEBUG"):
    os.environ.pop(name, None)
