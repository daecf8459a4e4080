"""What pyproject.toml cannot say: the pages' files, which stand beside the packages in a checkout, are installed within one."""

from __future__ import annotations

from setuptools import find_packages, setup

FILES = ("templates", "static", "locale")

setup(
    packages=[
        *find_packages(include=["scheduler_core*", "playground*"]),
        *(f"playground.files.{folder}" for folder in FILES),
    ],
    package_dir={f"playground.files.{folder}": folder for folder in FILES},
    package_data={
        "": ["*.json", "*.json.xz", "*.yaml"],
        "playground.lessons": ["content/*/*.yaml"],
        **{f"playground.files.{folder}": ["**/*"] for folder in FILES},
    },
)
