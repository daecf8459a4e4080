"""PostgreSQL: its own pg_dump and pg_restore, each in one transaction."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import NamedTemporaryFile

from django.db import connection
from django.db.backends.postgresql.client import DatabaseClient

from playground.storage.backups.archive import BackupError

OTHERS = """SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()"""

LOOKS, PAUSE = 10, 0.1  # seconds: a connection is listed for a moment after its client has closed it


def dump(copy: Path) -> None:
    """Copy the playground's tables as they are at one moment."""
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
    ours = {*connection.introspection.django_table_names(), "django_migrations"}
    chosen = [f'--table="{table}"' for table in tables if table in ours]
    _run("pg_dump", "--format=custom", "--compress=0", "--no-owner", "--no-privileges", *chosen, f"--file={copy}")


def load(unpack: Callable[[Path], None]) -> None:
    """Replace the tables by those that `unpack` writes, all or none."""
    with NamedTemporaryFile(prefix="playground-restore-") as file:
        unpack(Path(file.name))
        # pg_restore would wait for the locks of other connections, so that a restore beside a server would never end.
        for _ in range(LOOKS):
            with connection.cursor() as cursor:
                cursor.execute(OTHERS)
                count = cursor.fetchone()[0]
            if not count:
                break
            time.sleep(PAUSE)
        else:
            raise BackupError(
                f"The database is in use by {count} other connection{'s' * (count > 1)}: stop the servers that use it, then "
                "restore again."
            )
        words = ["--single-transaction", "--clean", "--if-exists", "--no-owner", "--no-privileges"]
        _run("pg_restore", *words, file.name)


def _run(program: str, *arguments: str) -> None:
    """Run one of PostgreSQL's programs on the database. The environment passes the password, because lists of processes show arguments."""
    found = shutil.which(program)
    if found is None:
        raise BackupError(
            f"{program} is missing on PATH: install PostgreSQL's client programs (Debian: postgresql-client)."
        )
    settings = connection.settings_dict
    (_, *where, name), secrets = DatabaseClient.settings_to_cmd_args_env(settings, [])
    command = [found, *where, f"--dbname={name}", *arguments]
    environment = {**os.environ, **(secrets or {})}
    connection.close()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise BackupError(f"{program} failed: {done.stderr.strip()}")
