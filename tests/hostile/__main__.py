"""`python -m tests.hostile [ROW ...] [--long]`: prints what was tried, in which numbers, and what came of it. Exit code 1 for any fault."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "playground.settings")
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        os.environ["DATA_DIR"] = folder  # before Django reads its settings
        import django

        django.setup()
        return _try(Path(folder))


def _try(folder: Path) -> int:
    from tests.hostile.ground import ground
    from tests.hostile.rows import ROWS, run

    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description="Send what nobody should.")
    parser.add_argument("rows", nargs="*", help=f"which of {', '.join(ROWS)} (default: all)")
    parser.add_argument("--long", action="store_true", help="every value at every place; takes long")
    options = parser.parse_args()
    faults = 0
    with ground(folder, options.long) as here:
        print("| what | numbers | result |\n|---|---|---|")
        for name in options.rows or ROWS:
            tally = run(name, here)
            faults += len(tally.faults)
            print(f"| {name} | {tally.numbers} | {len(tally.faults) or 'no'} faults |", flush=True)
            print("".join(f"  {fault}\n" for fault in tally.faults[:50]), end="", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
