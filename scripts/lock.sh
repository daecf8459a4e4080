#!/bin/sh
# Pins requirements/*.txt with hashes from pyproject.toml. The resolver lives in an environment of its own, so
# that it is no dependency of the project.
set -eu
tool=$(mktemp -d)
trap 'rm -rf "$tool"' EXIT
.venv/bin/python -m venv "$tool"
"$tool/bin/pip" install --quiet --disable-pip-version-check uv
compile() {
    "$tool/bin/uv" pip compile --quiet pyproject.toml --universal --python-version 3.11 --generate-hashes \
        --no-emit-index-url --extra checkout --custom-compile-command "make lock" "$@"
}
compile --output-file requirements/run.txt ${UPGRADE:+--upgrade}
compile --extra test --constraint requirements/run.txt --output-file requirements/test.txt ${UPGRADE:+--upgrade}
