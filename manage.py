#!/usr/bin/env python3
"""Django's command line: `python manage.py help` lists what the playground can do."""

import sys

from playground.management.program import run

if __name__ == "__main__":
    run(sys.argv[0], sys.argv[1:])
