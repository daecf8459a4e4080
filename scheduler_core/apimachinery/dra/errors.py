"""What ends an allocation, in kube's words; a scheduling cycle ends with it at the first such node."""

from __future__ import annotations


class AllocationError(Exception):
    """The claims can't be handled: something about them, their classes or the slices is wrong."""


class AllocationTimeout(AllocationError):
    """The search took longer than it may."""

    def __init__(self) -> None:
        super().__init__("filter operation aborted: context deadline exceeded")


class SelectorError(Exception):
    """A CEL selector failed: at all (`compile`), or at one device (`runtime`)."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind
