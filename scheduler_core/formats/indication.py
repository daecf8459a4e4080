"""The release of kube that an input indicates: by kubelet versions, by fields of a release, or by kube's own texts.

The bytes are searched instead of the objects, so that an input is checked before it is parsed. Fields of a release count in
managedFields, too. The control plane is at least as new as the newest kubelet.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from scheduler_core.base.releases import NEWEST, OLDEST, Release, find_newest, in_order, nearest_release
from scheduler_core.formats.manifests import NotObjects
from scheduler_core.formats.manifests.archives import Budget, is_archive, unpack


class Indication(NamedTuple):
    """A release and its evidence, or "" without evidence."""

    release: Release
    why: str = ""

    @property
    def sentence(self) -> str:
        if self.why:
            return f"kube {self.release}: indicated by {self.why}"
        return f"kube {self.release} is assumed: the input indicates no release"


class _Mark(NamedTuple):
    """A pattern that only some releases write; `since` and `until` are the first and the last of them."""

    pattern: re.Pattern[bytes]
    name: str
    since: Release = OLDEST
    until: Release = NEWEST


def _field(name: str) -> re.Pattern[bytes]:
    return re.compile(rb"\b" + name.encode() + rb'\\?"?:')


def _group(version: str) -> re.Pattern[bytes]:
    return re.compile(rb'apiVersion\\?"?:\s*\\?"?' + re.escape(version.encode()) + rb"\b")


def _text(text: str) -> re.Pattern[bytes]:
    return re.compile(rb"\s+".join(re.escape(word.encode()) for word in text.split()))


_OWN = re.compile(rb"(?m)^# kube: v(1\.\d+\.\d+)$")
_MOST = 1 << 29  # bytes of an unpacked archive
_HEAD = 4_000  # bytes in which an export of ours says its release
_VERSION = re.compile(rb'\bkubeletVersion\\?"?:\s*\\?["\']?(v?1\.\d+(?:\.\d+)?)')
_MARKS = (
    _Mark(_text("had untolerated taint {"), 'the text "untolerated taint {"', until="1.34.1"),
    _Mark(_text("had untolerated taint(s)"), 'the text "untolerated taint(s)"', "1.34.2"),
    _Mark(_text("no new claims to deallocate"), 'the text "no new claims to deallocate"', until="1.36.3"),
    _Mark(_text("found a potential placement for pod"), 'the text "found a potential placement"', "1.37.2"),
    _Mark(_field("declaredFeatures"), "the field declaredFeatures", "1.35.4"),
    _Mark(_field("workloadRef"), "the field workloadRef", "1.35.4", "1.35.4"),
    _Mark(_field("schedulingGroup"), "the field schedulingGroup", "1.36.3"),
    _Mark(_field("preventPodSchedulingIfMissing"), "the field preventPodSchedulingIfMissing", "1.36.3"),
    _Mark(_group("scheduling.k8s.io/v1alpha1"), "scheduling.k8s.io/v1alpha1", "1.35.4", "1.35.4"),
    _Mark(_group("scheduling.k8s.io/v1alpha2"), "scheduling.k8s.io/v1alpha2", "1.36.3", "1.36.3"),
    _Mark(_group("scheduling.k8s.io/v1beta1"), "scheduling.k8s.io/v1beta1", "1.37.2"),
    _Mark(_group("scheduling.k8s.io/v1alpha3"), "scheduling.k8s.io/v1alpha3", "1.37.2"),
)


def find_release(data: bytes, otherwise: Release = NEWEST) -> Indication:
    """Return the release that an input indicates; `otherwise` where it indicates none."""
    if own := _OWN.search(data[:_HEAD]):
        return Indication(nearest_release(own[1].decode()), "the export")
    versions, marks = set[str](), dict[str, _Mark]()
    for text in _texts(data):
        versions |= {found[1].decode().strip("v") for found in _VERSION.finditer(text)}
        marks |= {mark.name: mark for mark in _MARKS if mark.name not in marks and mark.pattern.search(text)}
    first = in_order(OLDEST, *(mark.since for mark in marks.values()))[-1]
    last = in_order(NEWEST, *(mark.until for mark in marks.values()))[0]
    release, why = in_order(first, last)[-1], list(marks)[:2]
    if versions:
        newest = find_newest(versions)
        of_kubelets = nearest_release(newest)
        release = in_order(first, of_kubelets)[-1]
        why = [f"kubeletVersion v{newest}", *(mark.name for mark in marks.values() if release != of_kubelets)]
    return Indication(release, ", ".join(why)) if why else Indication(otherwise)


def format_release(release: Release) -> str:
    """The line of an export that find_release reads."""
    return f"# kube: v{release}\n"


def _texts(data: bytes) -> Iterable[bytes]:
    if not is_archive(data):
        return (data,)
    try:
        return [file.data for file in unpack(data, Budget(_MOST)).files]
    except NotObjects:
        return ()  # the import says what is wrong with it
