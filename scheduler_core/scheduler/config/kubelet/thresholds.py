"""Eviction thresholds: their format and their values.

kube: pkg/kubelet/eviction/helpers.go (ParseThresholdConfig, UpdateContainerFsThresholds), pkg/kubelet/eviction/api/types.go,
pkg/kubelet/eviction/defaults_linux.go @ v1.34.1
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from scheduler_core.apimachinery.objects.durations import parse_duration
from scheduler_core.apimachinery.objects.quantity import BadQuantity, nanos, value
from scheduler_core.apimachinery.objects.typed import FieldProblem

MEMORY, ALLOCATABLE_MEMORY = "memory.available", "allocatableMemory.available"
NODE_DISK, NODE_INODES = "nodefs.available", "nodefs.inodesFree"
IMAGE_DISK, IMAGE_INODES = "imagefs.available", "imagefs.inodesFree"
CONTAINER_DISK, CONTAINER_INODES = "containerfs.available", "containerfs.inodesFree"
PIDS = "pid.available"
SIGNALS = (
    MEMORY,
    ALLOCATABLE_MEMORY,
    NODE_DISK,
    NODE_INODES,
    IMAGE_DISK,
    IMAGE_INODES,
    CONTAINER_DISK,
    CONTAINER_INODES,
    PIDS,
)
DEFAULT_HARD = {MEMORY: "100Mi", NODE_DISK: "10%", NODE_INODES: "5%", IMAGE_DISK: "15%", IMAGE_INODES: "5%"}
Texts = Mapping[str, str]
_NUMBER = re.compile(r"[+-]?[0-9]{1,9}(\.[0-9]{0,9})?")


@dataclass(frozen=True, slots=True)
class Amount:
    """A quantity (bytes, inodes, pids), or a share of the capacity."""

    quantity: int | None = None
    share: float = 0.0
    text: str = ""  # as configured

    def of(self, capacity: int) -> int:
        """Return the amount for a capacity."""
        return int(float(capacity) * self.share) if self.quantity is None else self.quantity


@dataclass(frozen=True, slots=True)
class Threshold:
    """A threshold: met if less than `amount` of the signal's resource is available; eviction starts after `grace` (ns; 0: hard).

    Then so much is freed that `least` more is available.
    """

    signal: str
    amount: Amount
    grace: int = 0
    least: Amount | None = None

    @property
    def hard(self) -> bool:
        return self.grace == 0


def read_thresholds(
    hard: Texts, soft: Texts, grace_periods: Texts, reclaims: Texts, enforced: Sequence[str]
) -> tuple[Threshold, ...]:
    """Read evictionHard, evictionSoft, evictionSoftGracePeriod, evictionMinimumReclaim, enforceNodeAllocatable. Raise FieldProblem."""
    graces = {signal: _grace(signal, text) for signal, text in grace_periods.items()}
    leasts = {signal: _least(signal, text) for signal, text in reclaims.items()}
    found = [Threshold(signal, amount) for signal, amount in _amounts("evictionHard", hard)]
    for signal, amount in _amounts("evictionSoft", soft):
        if signal not in graces:
            why = f"grace period must be specified for the soft eviction threshold {signal}"
            raise FieldProblem("evictionSoftGracePeriod", dict(grace_periods), why)
        found.append(Threshold(signal, amount, graces[signal]))
    found = [replace(threshold, least=leasts.get(threshold.signal)) for threshold in found]
    if "pods" in enforced:
        found += [replace(t, signal=ALLOCATABLE_MEMORY) for t in found if t.signal == MEMORY and t.hard]
    return tuple(found)


def with_container_disk(thresholds: Sequence[Threshold], image_disk: bool) -> tuple[Threshold, ...]:
    """Replace the thresholds of the container disk: by those of the images' disk if there is one, else by the node's.

    Configured thresholds of the container disk are ignored.
    """
    disk, inodes = (IMAGE_DISK, IMAGE_INODES) if image_disk else (NODE_DISK, NODE_INODES)
    own = [t for t in thresholds if t.signal not in (CONTAINER_DISK, CONTAINER_INODES)]
    added = [
        replace(threshold, signal=CONTAINER_DISK if threshold.signal == disk else CONTAINER_INODES)
        for threshold in own
        if threshold.signal in (disk, inodes)
    ]
    return (*own, *added)


def _amounts(field: str, texts: Texts) -> list[tuple[str, Amount]]:
    found = []
    for signal, text in texts.items():
        amount = _amount(field, signal, text)
        if amount is not None:
            found.append((signal, amount))
    return found


def _check_signal(field: str, signal: str) -> None:
    if signal not in SIGNALS:
        raise FieldProblem(field, signal, f"unsupported eviction signal {signal}")


def _amount(field: str, signal: str, text: str) -> Amount | None:
    """Return the amount, or None if kube ignores the threshold. Raise FieldProblem."""
    _check_signal(field, signal)
    if text in ("0%", "100%"):
        return None
    if text.endswith("%"):
        share = _share(field, text)
        if share < 0:
            raise FieldProblem(field, text, f"eviction percentage threshold {signal} must be >= 0%: {text}")
        if share > 1:
            raise FieldProblem(field, text, f"eviction percentage threshold {signal} must be <= 100%: {text}")
        return Amount(None, share, text)
    quantity = _quantity(field, text)
    if quantity <= 0:
        raise FieldProblem(field, text, f"eviction threshold {signal} must be positive: {text}")
    return Amount(quantity, 0.0, text)


def _least(signal: str, text: str) -> Amount:
    field = "evictionMinimumReclaim"
    _check_signal(field, signal)
    if text.endswith("%"):
        share = _share(field, text)
        if share <= 0:
            raise FieldProblem(field, text, f"eviction percentage minimum reclaim {signal} must be positive: {text}")
        return Amount(None, share, text)
    quantity = _quantity(field, text)
    if quantity < 0:
        raise FieldProblem(field, text, f"negative eviction minimum reclaim specified for {signal}")
    return Amount(quantity, 0.0, text)


def _grace(signal: str, text: str) -> int:
    field = "evictionSoftGracePeriod"
    _check_signal(field, signal)
    try:
        grace = parse_duration(text)
    except ValueError as problem:
        raise FieldProblem(field, text, str(problem)) from None
    if grace < 0:
        raise FieldProblem(field, text, f"invalid eviction grace period specified: {text}, must be a positive value")
    return grace


def _share(field: str, text: str) -> float:
    """Convert a percentage to kube's float32 share."""
    number = text.rstrip("%")
    if not _NUMBER.fullmatch(number):
        raise FieldProblem(field, text, f'strconv.ParseFloat: parsing "{number}": invalid syntax')
    return float(np.float32(np.float32(number) / np.float32(100)))


def _quantity(field: str, text: str) -> int:
    try:
        return value(text) if nanos(text) >= 0 else -1
    except BadQuantity as problem:
        raise FieldProblem(field, text, str(problem)) from None
