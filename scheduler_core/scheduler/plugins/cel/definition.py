"""What a plugin in CEL is made of: plain data, which stands in a session's log."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

MOST_PLUGINS = 50  # of a world
LONGEST = 4_096  # characters of an expression
NAME_PATTERN = r"^[A-Za-z]([-A-Za-z0-9._/]{0,98}[A-Za-z0-9])?$"

Expression = Annotated[str, msgspec.Meta(max_length=LONGEST)]
Normalize = Literal["none", "default", "reversed", "min-max"]
NORMALIZE: tuple[Normalize, ...] = ("none", "default", "reversed", "min-max")


class Definition(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The expressions of a plugin, by extension point; it takes part where there is one.

    `unresolvable`: evicting pods would not help where Filter refuses. `normalize` is what becomes of Score's numbers. `weight` is what a
    profile is offered that takes the plugin in; a configuration that says none counts 1, as ever.
    """

    description: Annotated[str, msgspec.Meta(max_length=500)] = ""
    pre_enqueue: Expression = ""
    filter: Expression = ""
    unresolvable: bool = False
    score: Expression = ""
    normalize: Normalize = "none"
    weight: Annotated[int, msgspec.Meta(ge=1, le=100)] = 1
    permit: Expression = ""
    post_filter: Expression = ""
