#!/bin/sh
# Makes sure that a Chromium for the browser tests is there: on PATH, named by CHROMIUM, or installed now.
set -eu
if [ -n "${CHROMIUM:-}" ]; then
    [ -x "$CHROMIUM" ] && exit 0
    echo "make: CHROMIUM=$CHROMIUM is no program that can be run." >&2
    exit 1
fi
for candidate in chromium chromium-browser google-chrome google-chrome-stable; do
    command -v "$candidate" >/dev/null 2>&1 && exit 0
done
echo "make: Chromium is missing; installing the system package chromium"
sh scripts/apt-install.sh chromium && exit 0
echo "make: please install Chromium (Debian's package chromium), or set CHROMIUM to one: the browser tests need it." >&2
exit 1
