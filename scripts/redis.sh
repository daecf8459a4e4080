#!/bin/sh
# Makes sure that a redis-server for the tests of several server processes is on PATH, or installs it now. It need not run.
set -eu
command -v redis-server >/dev/null 2>&1 && exit 0
echo "make: redis-server is missing; installing the system package redis-server"
sh scripts/apt-install.sh redis-server && exit 0
echo "make: please install redis-server (Debian's package redis-server): the tests of several server processes need it." >&2
exit 1
