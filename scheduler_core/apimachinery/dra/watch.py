"""Looking on while devices are searched: each thing in its order, as a tree that can be walked.

A node is plain data, JSON-safe: `kind`, what it is about, `checks` (what was asked of it and answered: each with `kind` and `passed`),
`nodes` (what was searched from there on), `outcome`, and `left_out` where the tree had become too large.

| kind | is about | checks |
|---|---|---|
| search | the root | pool: `pool`, `slices`, `devices`, `incomplete`, `invalid` |
| all | gathering the devices of a request for all: `claim`, `request`, `count` | |
| request, subrequest | one device of it: `claim`, `request`, `number` of `count`; `again`: tries that would be in vain | |
| device | `device` | see below |

| check | asks |
|---|---|
| in-use | is the device free? |
| binding | may devices have binding conditions? |
| selector | does the expression select it? `owner`, `index`, `expression`, `values` of its parts, `error` |
| node | does the node reach the device? |
| remembered | was it selected when it was asked before? |
| capacity | is enough of its capacity left? `amounts`: name -> `wanted`, `taken`, `of` |
| counters | is enough of the counters left? `needs`, `left`, the `missing` one |
| taint | is its taint tolerated? `taint` |
| constraint | does it meet the claim's constraint? `constraint`, `attribute`, `value`, and the value `expected` |

| outcome | meaning |
|---|---|
| found | part of the solution |
| undone | was chosen and taken back, as nothing was found from there on |
| refused | its last check said no |
| none | nothing was found |
| too-many | would exceed the devices that a claim can have |
| error | the allocation ended here; `text` says why |
"""

from typing import Any, Protocol

FOUND, UNDONE, REFUSED, NONE, TOO_MANY, ERROR = "found", "undone", "refused", "none", "too-many", "error"
MOST_NODES = 2000
MOST_LEVELS = 200  # one below the other: a tree is written as JSON

Node = dict[str, Any]


class Watch(Protocol):
    """An observer of the search. The part begun last ends first."""

    def begin(self, kind: str, **facts: Any) -> None: ...

    def check(self, kind: str, passed: bool, **facts: Any) -> None: ...

    def end(self, outcome: str, **facts: Any) -> None: ...

    def fail(self, text: str) -> None:
        """End all open nodes with an error."""


class SeenEnough(Exception):
    """The observer's limit is reached: the search ends, because only the observer needs it."""


class SearchTree:
    """Records the search, up to `most` nodes and MOST_LEVELS. Further nodes are only counted at their parent.

    `patience`: the number of further nodes after which SeenEnough is raised and the tree is `cut` (None: never).
    """

    def __init__(self, most: int = MOST_NODES, patience: int | None = None) -> None:
        self.cut = False
        self._patience = patience
        self.root: Node = {"kind": "search", "checks": [], "nodes": [], "outcome": ""}
        self.left_out = 0
        self._room = most
        self._open: list[Node | None] = [self.root]
        self._last = self.root  # the innermost open node that is kept

    def begin(self, kind: str, **facts: Any) -> None:
        if self._room <= 0 or len(self._open) > MOST_LEVELS:
            self.left_out += 1
            self._last["left_out"] = self._last.get("left_out", 0) + 1
            self._open.append(None)
            if self._patience is not None and self.left_out > self._patience:
                self.cut = True
                raise SeenEnough
            return
        self._room -= 1
        node: Node = {"kind": kind, **facts, "checks": [], "nodes": [], "outcome": ""}
        self._last["nodes"].append(node)
        self._open.append(node)
        self._last = node

    def check(self, kind: str, passed: bool, **facts: Any) -> None:
        if self._open[-1] is not None:
            self._open[-1]["checks"].append({"kind": kind, "passed": passed, **facts})

    def end(self, outcome: str, **facts: Any) -> None:
        node = self._open.pop()
        if node is not None:
            node.update(facts, outcome=outcome)
            self._last = next((each for each in reversed(self._open) if each is not None), self.root)

    def fail(self, text: str) -> None:
        if self._last is not self.root:
            self._last["text"] = text
        while len(self._open) > 1:
            self.end(ERROR)
        self.root.update(outcome=ERROR, text=text)
