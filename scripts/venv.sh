#!/bin/sh
# Makes .venv with Python 3.11 or newer, once. An environment that was left half made is made anew.
set -eu
[ -x .venv/bin/pip ] && .venv/bin/python -c '' 2>/dev/null && exit 0

python=""
for candidate in python3.11 python3 python3.12 python3.13 python3.14; do
    # A name on PATH is not enough: version managers put shims there for versions that are not switched on.
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    echo "make: Python 3.11 or newer is needed and neither python3.11 nor a new enough python3 is on PATH." >&2
    exit 1
fi

if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    echo "make: $python has no venv module; installing the system package $package"
    if ! sh scripts/apt-install.sh "$package"; then
        echo "make: please install the system package $package, then run make again." >&2
        exit 1
    fi
fi
echo "make: making .venv with $("$python" --version)"
"$python" -m venv --clear .venv
