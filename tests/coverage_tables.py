"""What docs/coverage.md says of what has no effect, made of the lists themselves: `python -m tests.coverage_tables` prints it."""

from __future__ import annotations

import textwrap

from scheduler_core.config.kubelet.unmodelled import UNMODELLED
from scheduler_core.coverage import ENTRIES
from scheduler_core.coverage.no_effect import ANY_CUSTOM
from tests.architecture_tables import table


def without_effect() -> str:
    """One row for each entry of the list."""
    rows = [
        (
            "any custom resource" if entry.kind == ANY_CUSTOM else f"`{entry.kind}`",
            f"`{entry.path}`" if entry.path else "all of it",
            entry.why,
        )
        for entry in ENTRIES
    ]
    return table(("kind", "field", "why"), rows)


def kubelet_fields() -> str:
    """The fields of a KubeletConfiguration that are accepted and change nothing."""
    return textwrap.fill(", ".join(sorted(UNMODELLED)), 160)


if __name__ == "__main__":
    print(f"{without_effect()}\n\n{kubelet_fields()}")
