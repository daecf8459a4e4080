"""`python -m tests.faults --kills N --db sqlite|postgresql --processes N --seed N --json`: exit code 1 if anything was lost."""

import argparse
import sys
from dataclasses import asdict

import orjson

from tests.faults.kills import run


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.faults", description="Kill at random, and count what is lost."
    )
    parser.add_argument("--kills", type=int, default=20, help="how many (default: %(default)s)")
    parser.add_argument("--db", choices=["sqlite", "postgresql"], default="sqlite", help="default: %(default)s")
    parser.add_argument("--processes", type=int, default=1, help="server processes (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="who is killed, and what clients do (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="for machines")
    options = parser.parse_args()
    tally = run(options.kills, options.db, options.processes, options.seed)
    if options.json:
        print(orjson.dumps({name: count for name, count in asdict(tally).items() if name != "behind"}).decode())
    else:
        print(", ".join(f"{count:,} {name}" for name, count in asdict(tally).items()))
    return 0 if tally.is_clean else 1


if __name__ == "__main__":
    sys.exit(main())
