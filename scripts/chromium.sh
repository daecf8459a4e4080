#!/bin/sh
# Makes sure that a Chromium for the browser tests is there: on PATH, named by CHROMIUM, or installed now.
# The headless shell comes first: without the parts for a desktop, the tests take a third less time of the processor.
set -eu
shell=chromium-headless-shell
if [ -n "${CHROMIUM:-}" ]; then
    [ -x "$CHROMIUM" ] && exit 0
    echo "make: CHROMIUM=$CHROMIUM is no program that can be run." >&2
    exit 1
fi
command -v "$shell" >/dev/null 2>&1 && exit 0
for candidate in chromium chromium-browser google-chrome google-chrome-stable; do
    if command -v "$candidate" >/dev/null 2>&1; then
        # As root on Debian the package costs nothing but a download; elsewhere the browser that is there will do.
        if [ "$(id -u)" = 0 ] && apt-cache show "$shell" >/dev/null 2>&1; then
            sh scripts/apt-install.sh "$shell" || true
        fi
        exit 0
    fi
done
echo "make: Chromium is missing; installing the system package $shell, or chromium"
sh scripts/apt-install.sh "$shell" && exit 0
sh scripts/apt-install.sh chromium && exit 0
echo "make: please install Chromium (Debian's package chromium), or set CHROMIUM to one: the browser tests need it." >&2
exit 1
