"""What docs/coverage.md says of what has no effect, made of the lists themselves: `python -m tests.coverage_tables` prints it."""

from __future__ import annotations

import textwrap

from scheduler_core.formats.unsupported import ENTRIES, NoEffect
from scheduler_core.formats.unsupported.no_effect import ANY_CUSTOM
from scheduler_core.scheduler.config.kubelet.configuration import UNMODELLED
from tests.architecture_tables import table


def without_effect() -> str:
    """One row for each kind and reason. A field that several kinds have stands where its path is the shortest."""
    shortest: dict[tuple[str, str], NoEffect] = {}
    for entry in ENTRIES:
        of = entry.of if entry.of[0] else (entry.kind, entry.path)
        shortest[of] = min(shortest.get(of, entry), entry, key=lambda each: len(each.path))
    rows: dict[tuple[str, str], list[str]] = {}
    for entry in shortest.values():
        rows.setdefault((entry.kind, entry.why), []).append(entry.path)
    return table(
        ("kind", "what of it", "why"),
        [(_kind(kind), ", ".join(map(_path, paths)), why) for (kind, why), paths in rows.items()],
    )


def _kind(kind: str) -> str:
    if kind == ANY_CUSTOM:
        return "any other custom resource"
    any_, dot, group = kind.partition(".")
    return f"any kind of `{group}`" if dot and any_ == ANY_CUSTOM else f"`{kind}`"


def _path(path: str) -> str:
    return f"`{path}`" if path else "all of it"


def kubelet_fields() -> str:
    """The fields of a KubeletConfiguration that are accepted and change nothing."""
    return textwrap.fill(", ".join(sorted(UNMODELLED)), 160)


if __name__ == "__main__":
    print(f"{without_effect()}\n\n{kubelet_fields()}")
