"""Amounts as people read them: times, cpu, memory. Kubernetes' own notation wherever it has one."""

from __future__ import annotations

SECOND = 1_000_000_000
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


def clock(ns: int) -> str:
    """Virtual time as hours, minutes, seconds and milliseconds: 00:00:12.300."""
    milliseconds = ns // 1_000_000
    seconds, rest = divmod(milliseconds, 1000)
    minutes, second = divmod(seconds, 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{second:02}.{rest:03}"


def duration(ns: int) -> str:
    """A length of time with its unit: 1.7 s, 5 ms, 2 min 5 s."""
    if ns >= 60 * SECOND:
        minutes, second = divmod(ns // SECOND, 60)
        return f"{minutes} min {second} s" if second else f"{minutes} min"
    if ns >= SECOND:
        return f"{_short(ns / SECOND)} s"
    if ns >= 1_000_000:
        return f"{_short(ns / 1_000_000)} ms"
    return f"{_short(ns / 1000)} µs" if ns else "0 s"


def cpu(milli: int) -> str:
    """Cpu in kube's notation: 250m, 2, and 7.5 or 2.25 where whole cores would hide something."""
    if milli % 1000 == 0:
        return str(milli // 1000)
    return f"{milli}m" if milli < 1000 else f"{milli / 1000:.3f}".rstrip("0")


def memory(size: int) -> str:
    """Bytes in binary units: 256Mi, 15.2Gi."""
    value, unit = float(size), 0
    while value >= 1024 and unit < len(_BINARY) - 1:
        value, unit = value / 1024, unit + 1
    return f"{_short(value)}{_BINARY[unit]}"


def amount(resource: str, value: int) -> str:
    """An amount of any resource; cpu comes in millis, all else in its own unit."""
    if resource == "cpu":
        return cpu(value)
    return memory(value) if is_bytes(resource) else str(value)


def exact(resource: str, value: int) -> str:
    """The same with nothing rounded away: 1500Mi, not 1.5Gi."""
    if not is_bytes(resource):
        return amount(resource, value)
    unit = 0
    while value and value % 1024 == 0 and unit < len(_BINARY) - 1:
        value, unit = value // 1024, unit + 1
    return f"{value}{_BINARY[unit]}"


def is_bytes(resource: str) -> bool:
    return resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-")


def thousands(number: int) -> str:
    """A count with separators: 1,523."""
    return f"{number:,}"


def _short(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")
