"""What it takes to apply what was found: errors and unknown plugins stand where the user wrote them."""

from __future__ import annotations

import pytest

from scheduler_core.apimachinery.objects.loading import LoadLimits
from scheduler_core.formats.configurations import Adoption, adopt, find

OLD = """\
apiVersion: kubescheduler.config.k8s.io/v1beta1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: a
  plugins:
    score:
      disabled:
      - name: NodeResourcesLeastAllocated
      enabled:
      - name: Mine
      - name: NodeResourcesMostAllocated
  pluginConfig:
  - name: NodeResourcesMostAllocated
    args: {resources: [{name: cpu, weight: 2}]}
  - name: InterPodAffinity
    args: {hardPodAffinityWeight: 500}
"""
ALPHA = """\
apiVersion: kubescheduler.config.k8s.io/v1alpha1
kind: KubeSchedulerConfiguration
plugins:
  filter:
    enabled:
    - name: Mine
pluginConfig:
- name: InterPodAffinity
  args: {hardPodAffinityWeight: 500}
"""
V1 = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      enabled:
      - name: ImageLocality
        weight: 3
      - name: Mine
  percentageOfNodesToScore: 101
"""


def adopted(text: str) -> Adoption:
    [found] = find(text, LoadLimits())
    return adopt(found)


@pytest.mark.parametrize(("text", "error", "plugin"), [(OLD, 16, 10), (ALPHA, 9, 6), (V1, 10, 9)])
def test_errors_and_plugins_stand_at_their_lines(text: str, error: int, plugin: int) -> None:
    it = adopted(text)
    assert [each.line for each in it.errors] == [error]
    [unknown] = it.unknown
    place = it.found.locate(unknown.places[0])
    assert place is not None
    assert place[0] == plugin


def test_a_document_of_v1_that_loads_is_plain() -> None:
    text = V1.replace("101", "10").replace("      - name: Mine\n", "")
    assert adopted(text).plain
    assert not adopted(V1).plain


def test_what_is_not_of_its_versions_shape_is_an_error_of_the_document() -> None:
    it = adopted(OLD.replace("plugins:", "plugin:"))
    assert [(each.path, each.line) for each in it.errors] == [("profiles[0].plugin", 5)]
    assert not it.manifest


def test_an_unheard_of_version_is_refused_in_kubes_words() -> None:
    [error] = adopted(V1.replace("/v1", "/v7")).errors
    assert "no kind" in str(error)
    assert error.line == 1


def test_of_very_many_errors_the_first_ones_are_placed() -> None:
    many = "".join(f"      - name: ImageLocality\n        weight: x{i}\n" for i in range(1_000))
    text = V1.replace("      - name: ImageLocality\n        weight: 3\n", many)
    assert len(adopted(text).errors) == 200
