"""One object of a table, and the formats of durations, selectors, and labels in tables.

kube: apimachinery/pkg/util/duration/duration.go, apimachinery/pkg/apis/meta/v1/helpers.go @ v1.34.1
"""

from typing import Any

from scheduler_core.apimachinery.objects import SECOND, Manifest, parse_time

Cells = list[Any]
NONE, UNKNOWN = "<none>", "<unknown>"


def human_duration(seconds: float) -> str:
    """Format a duration as kube's tables do. kube: apimachinery/pkg/util/duration/duration.go"""
    if seconds < -1:
        return "<invalid>"
    whole = max(0, int(seconds))
    if whole < 120:
        return f"{whole}s"
    minutes, hours = whole // 60, whole // 3600
    if minutes < 10:
        return f"{minutes}m{whole % 60}s" if whole % 60 else f"{minutes}m"
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return f"{hours}h{minutes % 60}m" if minutes % 60 else f"{hours}h"
    if hours < 48:
        return f"{hours}h"
    if hours < 192:
        return f"{hours // 24}d{hours % 24}h" if hours % 24 else f"{hours // 24}d"
    if hours < 24 * 365 * 2:
        return f"{hours // 24}d"
    years, days = divmod(hours // 24, 365)
    return f"{years}y{days}d" if years < 8 and days else f"{years}y"


class Row:
    """One object of a table, with the present time."""

    def __init__(self, manifest: Manifest, now: int) -> None:
        self.all = manifest
        self.meta: Manifest = manifest.get("metadata") or {}
        self.spec: Manifest = manifest.get("spec") or {}
        self.status: Manifest = manifest.get("status") or {}
        self.now = now

    def since(self, text: Any) -> str:
        """Return the age of a time."""
        if not text:
            return UNKNOWN
        try:
            return human_duration((self.now - parse_time(str(text))) / SECOND)
        except ValueError:
            return "<invalid>"

    @property
    def name(self) -> str:
        return str(self.meta.get("name", ""))

    @property
    def age(self) -> str:
        return self.since(self.meta.get("creationTimestamp"))

    def template(self, of: Manifest | None = None, selector: bool = True) -> Cells:
        """Return the names and images of a template's containers, and the selector."""
        spec = self.spec if of is None else of
        containers = ((spec.get("template") or {}).get("spec") or {}).get("containers") or ()
        cells: Cells = [",".join(str(each.get(part, "")) for each in containers) for part in ("name", "image")]
        return [*cells, format_selector(spec.get("selector"))] if selector else cells


def format_selector(selector: Any) -> str:
    """Return a label selector in kubectl's format; <none> for None."""
    if selector is None:
        return NONE
    if "matchLabels" not in selector and "matchExpressions" not in selector:
        return format_labels(selector)
    texts = [(key, f"{key}={value}") for key, value in (selector.get("matchLabels") or {}).items()]
    for each in selector.get("matchExpressions") or ():
        key, operator, values = each.get("key"), each.get("operator"), ",".join(sorted(each.get("values") or ()))
        form = {"Exists": "{0}", "DoesNotExist": "!{0}", "In": "{0} in ({1})", "NotIn": "{0} notin ({1})"}
        texts.append((key, form.get(str(operator), "{0}").format(key, values)))
    return ",".join(text for _, text in sorted(texts)) or NONE


def format_labels(labels: Any) -> str:
    """Return labels in kubectl's format."""
    return ",".join(f"{name}={value}" for name, value in sorted((labels or {}).items())) or NONE
