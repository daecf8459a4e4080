"""The release of kube that an input indicates."""

import io
import tarfile

import pytest

from scheduler_core.formats.indication import find_release, format_release


@pytest.mark.parametrize(
    ("text", "release", "why"),
    [
        ("kind: Node", "1.37.2", ""),
        ("kubeletVersion: v1.36.1-gke.100", "1.36.3", "kubeletVersion v1.36.1"),
        ('"kubeletVersion":"v1.34.0"', "1.34.1", "kubeletVersion v1.34.0"),
        ("kubeletVersion: v1.29.4", "1.34.1", "kubeletVersion v1.29.4"),
        ("kubeletVersion: v1.40.0", "1.37.2", "kubeletVersion v1.40.0"),
        ("kubeletVersion: v1.35.1\nkubeletVersion: v1.9.11", "1.35.4", "kubeletVersion v1.35.1"),
        ("message: 1 node(s) had untolerated taint {a: b}.", "1.34.1", 'the text "untolerated taint {"'),
        ("message: 1 node(s) had\n  untolerated taint(s).", "1.37.2", 'the text "untolerated taint(s)"'),
        ("kind: Pod\nspec: {workloadRef: {name: w}}", "1.35.4", "the field workloadRef"),
        (
            "f:declaredFeatures: {}\nkubeletVersion: v1.34.2",
            "1.35.4",
            "kubeletVersion v1.34.2, the field declaredFeatures",
        ),
        ("apiVersion: scheduling.k8s.io/v1alpha2\nkind: PodGroup", "1.36.3", "scheduling.k8s.io/v1alpha2"),
        ("apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass", "1.37.2", ""),
        (format_release("1.35.4") + "kind: Node", "1.35.4", "the export"),
    ],
)
def test_an_input_has_the_release_that_it_indicates(text: str, release: str, why: str) -> None:
    assert find_release(text.encode()) == (release, why)


def test_an_archive_is_looked_into_and_a_broken_one_indicates_nothing() -> None:
    whole, data = io.BytesIO(), b"kubeletVersion: v1.35.0"
    with tarfile.open(fileobj=whole, mode="w:gz") as archive:
        member = tarfile.TarInfo("nodes.yaml")
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    assert find_release(whole.getvalue()).release == "1.35.4"
    assert find_release(whole.getvalue()[:40]).release == "1.37.2"
