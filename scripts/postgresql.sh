#!/bin/sh
# Makes sure that PostgreSQL's programs are there for the tests that stop and kill it, or installs them now. It need not run.
set -eu
for found in /usr/lib/postgresql/*/bin/initdb; do
    [ -x "$found" ] && exit 0
done
command -v initdb >/dev/null 2>&1 && exit 0
echo "make: postgresql is missing; installing the system package postgresql"
sh scripts/apt-install.sh postgresql && exit 0
echo "make: please install postgresql (Debian's package postgresql): the tests of a database that goes away need it." >&2
exit 1
