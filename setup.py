"""What pyproject.toml cannot say: the pages' files, which stand beside the packages in a checkout, are installed within one."""

from __future__ import annotations

import sys
from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT))  # pip builds with a path of its own

from playground.common.catalogs import compile_catalogs  # noqa: E402

FILES = {"templates": "**/*", "static": "**/*", "locale": "**/*.mo"}

compile_catalogs(ROOT / "locale")

setup(
    packages=[
        *find_packages(include=["scheduler_core*", "playground*"]),
        *(f"playground.files.{folder}" for folder in FILES),
    ],
    package_dir={f"playground.files.{folder}": folder for folder in FILES},
    package_data={
        "": ["*.json", "*.json.xz", "*.txt", "*.yaml"],
        "playground.lessons": ["content/*/*.yaml"],
        **{f"playground.files.{folder}": [files] for folder, files in FILES.items()},
    },
)
