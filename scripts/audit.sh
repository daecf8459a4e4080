#!/bin/sh
# Looks up what is known to be unsafe in the pinned packages. The tool lives in an environment of its own, so that it is no
# dependency of the project; it needs the network.
set -eu
tool=$(mktemp -d)
trap 'rm -rf "$tool"' EXIT
.venv/bin/python -m venv "$tool"
"$tool/bin/pip" install --quiet --disable-pip-version-check pip-audit
"$tool/bin/pip-audit" --require-hashes --disable-pip --requirement requirements/run.txt --requirement requirements/test.txt
