"""The request for the search for devices, and its answer."""

from typing import NotRequired, TypedDict

from playground.presenters.words import Message
from playground.sessions.protocol.base import Query


class Part(TypedDict):
    """A part of an expression and its value."""

    text: str
    value: str


class Amount(TypedDict):
    """A capacity: wanted, and taken of its total; or a counter: needed and left."""

    name: str
    wanted: str
    taken: NotRequired[str]
    of: NotRequired[str]
    left: NotRequired[str]


class DescribedCheck(TypedDict):
    """A check of a device. An expression has the values of its parts."""

    kind: str
    passed: bool
    said: Message
    expression: str
    parts: list[Part]
    amounts: list[Amount]


class TriedDevice(TypedDict):
    """A device that was tried. `inner`: the search after it, if the device was undone."""

    device: str
    id: str
    outcome: str
    word: str
    why: Message | None
    checks: list[DescribedCheck]
    text: str
    inner: "list[Block]"
    left_out: int


class DeviceRow(TypedDict, total=False):
    """One device, or (`fold`) several consecutive devices that were refused for the same reason."""

    device: TriedDevice
    fold: list[TriedDevice]
    why: Message | None
    outcome: str


class Block(TypedDict):
    """A request of a claim with the devices that were tried for it."""

    kind: str
    claim: str
    request: str
    number: int
    count: int
    outcome: str
    word: str
    text: str
    rows: list[DeviceRow]
    left_out: int
    again: int


class SearchedPool(TypedDict):
    pool: str
    devices: int
    incomplete: bool
    invalid: str
    slices: int


class Search(TypedDict):
    """The whole search on a node. `cut`: the search continues beyond the rows shown."""

    outcome: str
    end: Message
    pools: list[SearchedPool]
    blocks: list[Block]
    left_out: int
    cut: bool
    order: Message | None


class SearchedNode(TypedDict):
    name: str
    refused: bool


class FoundSearch(TypedDict):
    """The answer. `search` is None if no search ran on the node."""

    position: int
    pod: str
    name: str
    number: int
    node: str
    nodes: list[SearchedNode]
    more: int
    answer: str
    search: Search | None


class DeviceSearch(Query[FoundSearch | None], frozen=True, kw_only=True):
    """The request for the search that Filter made for a pod on a node, repeated for display (presenter.py) with at most `most` rows.

    The answer is None if no cycle of the pod searched for devices.
    """

    pod: str
    node: str
    most: int
