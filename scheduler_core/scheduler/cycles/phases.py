"""The phases of scheduling and binding cycles.

```
scheduling cycle                                                    binding cycle (overlaps with later scheduling cycles)
PreFilter -> Filter -> PreScore -> Score -> NormalizeScore -> Select -> Reserve -> Permit -> WaitOnPermit -> PreBind -> Bind -> PostBind
    |           |          |         |            |                       |          |            |            |         |
    +-----------+--> PostFilter      +------------+--> Failed <-----------+----------+            +-- rollback +---------+
                         +-> Failed
```
"""

from __future__ import annotations

import enum


class Phase(enum.StrEnum):
    """Where a scheduling or binding cycle stands: the point whose plugin runs next."""

    PRE_FILTER = "PreFilter"
    FILTER = "Filter"
    POST_FILTER = "PostFilter"
    PRE_SCORE = "PreScore"
    SCORE = "Score"
    NORMALIZE_SCORE = "NormalizeScore"
    SELECT = "Select"
    RESERVE = "Reserve"
    PERMIT = "Permit"
    WAIT_ON_PERMIT = "WaitOnPermit"
    PRE_BIND = "PreBind"
    BIND = "Bind"
    POST_BIND = "PostBind"
    FAILED = "Failed"
    DONE = "Done"
