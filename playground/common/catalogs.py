"""Message catalogs: git keeps locale/*/LC_MESSAGES/*.po, and the *.mo files that gettext reads are compiled from them.

setup.py imports this module before anything is installed, so that it imports nothing but the standard library and Babel.
"""

import logging
import os
import time
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)


@lru_cache
def read_yaml(path: Path) -> Any:
    """Read the words of a YAML file beside its module. `make messages` extracts them as it does those of modules and templates."""
    import yaml  # after installation; see above

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(path.read_text(encoding="utf-8"), Loader=loader)  # noqa: S506 - plain data alone


def compile_catalogs(root: Path) -> list[Path]:
    """Compile each .po file under `root` whose .mo file is missing or older. Return the .mo files written.

    Log a warning without Babel or write access; the playground then shows the existing translations. Raise ValueError with the line of an
    invalid .po file.
    """
    written = []
    for source in sorted(root.glob("*/LC_MESSAGES/*.po")):
        target = source.with_suffix(".mo")
        if target.exists() and target.stat().st_mtime_ns >= source.stat().st_mtime_ns:
            continue
        try:
            _compile(source, target)
        except (ImportError, OSError) as error:
            logger.warning("%s cannot be compiled to %s: %s", source, target.name, error)
        else:
            written.append(target)
    return written


def _compile(source: Path, target: Path) -> None:
    """Replace `target` atomically, because several processes may start at the same time and read it."""
    from babel.messages.mofile import write_mo  # 0.1 s that only a start after a change pays
    from babel.messages.pofile import PoFileError, read_po

    started = time.time()
    with source.open("rb") as words:
        try:
            catalog = read_po(words, locale=source.parents[1].name, abort_invalid=True)
        except PoFileError as error:
            raise ValueError(f"{source}, line {error.lineno + 1}: {error.line!r} is no part of a catalog") from error
    unfinished = target.with_name(f"{target.name}.{os.getpid()}")
    try:
        with unfinished.open("wb") as out:
            write_mo(out, catalog)
        os.utime(unfinished, (started, started))  # a change during the compilation is newer, and is compiled next
        unfinished.replace(target)
    finally:
        with suppress(OSError):
            unfinished.unlink()
