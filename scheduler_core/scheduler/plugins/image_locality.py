"""ImageLocality: prefers nodes that already have the pod's images, weighed by size and by how widely they are spread.

kube: plugins/imagelocality/image_locality.go @ v1.34.1
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from scheduler_core.apimachinery.objects.pod import Pod, normalize_image_name
from scheduler_core.base.releases import Behavior
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework import formula as formulas
from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.explanation import Code, Source, gettext_noop, phrase
from scheduler_core.scheduler.framework.plugin import MAX_NODE_SCORE, Handle, Plugin, Rows, Scores
from scheduler_core.scheduler.plugins.helper.memo import remember
from scheduler_core.scheduler.plugins.helper.normalize import divide

NAME = "ImageLocality"

MIB = 1024 * 1024
MIN_THRESHOLD = 23 * MIB
MAX_CONTAINER_THRESHOLD = 1000 * MIB

_SIZE = gettext_noop("size of the image")
_HOLDERS = gettext_noop("nodes that have the image")
_NODES = gettext_noop("number of nodes")
_IMAGES = gettext_noop("images of the pod's containers")
_ABSENT = gettext_noop("the node does not have the image")
_SUM = phrase("images")
_BOUNDED = phrase("within limits")
_SPREAD = phrase(
    "An image counts in proportion to the share of nodes that have it, so that pods do not pile up on one node."
)
_BOUNDS = phrase("A sum below 23Mi scores 0. A sum above 1000Mi for each container scores 100.")


class ImageLocality(Plugin):
    """The score depends on Node objects and the pod's images alone, so it is kept per distinct list of images."""

    name = NAME

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self._volumes_count = Behavior.IMAGE_VOLUMES in handle.features.behaviors
        self._raise_limit = Behavior.IMAGE_VOLUMES_IN_LIMIT in handle.features.behaviors

    def _images(self, pod: Pod) -> tuple[tuple[str, ...], int]:
        """Return the images that count, and the number of their containers and image volumes."""
        images, count = pod.spec.images, pod.spec.num_image_containers
        mounted = self._volumes_count and pod.manifest["spec"].get("volumes")
        if not mounted:
            return images, count
        volumes = [volume["image"] for volume in mounted if volume.get("image")]
        names = (normalize_image_name(image.get("reference") or "") for image in volumes)
        return (*images, *names), count + len(volumes) * self._raise_limit

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Scores:
        images, containers = self._images(pod)
        key = (NAME, images, containers)
        return remember(nodes.memo, key, lambda: _score_table(nodes, images, containers))[rows]

    def formula(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> formulas.Formula:
        names, count = self._images(pod)
        images = [formulas.Line((Code(name),), _build_image_term(nodes, row, name), "memory") for name in names]
        held = formulas.Line(_SUM, formulas.total(*images) if images else formulas.constant(0, "memory"), "memory")
        lowest = formulas.constant(MIN_THRESHOLD, "memory")
        highest = formulas.times(formulas.constant(MAX_CONTAINER_THRESHOLD, "memory"), formulas.Value(count, _IMAGES))
        few = held.result < MIN_THRESHOLD
        bounded = formulas.Line(
            _BOUNDED, formulas.most(held, lowest) if few else formulas.least(held, highest), "memory"
        )
        over = formulas.times(formulas.constant(MAX_NODE_SCORE), formulas.minus(bounded, lowest))
        return formulas.Formula(
            (*images, held, bounded, formulas.Line(formulas.NODE, formulas.by(over, formulas.minus(highest, lowest)))),
            (_SPREAD, _BOUNDS),
        )


def _score_table(nodes: NodeTable, images: tuple[str, ...], containers: int) -> Scores:
    sums = np.zeros(len(nodes), np.int64)
    for name in images:
        image = nodes.images.get(name)
        if image is not None:
            # The image's size times the share of nodes that have it, in Go's order of float64 operations.
            sums[image.rows] += np.int64(int(float(image.size) * (float(image.num_nodes) / float(len(nodes)))))
    highest = MAX_CONTAINER_THRESHOLD * containers
    # A sum below the lower bound is raised first, so that a pod without containers scores 0 as in kube.
    clipped = np.where(sums < MIN_THRESHOLD, MIN_THRESHOLD, np.where(sums > highest, highest, sums))
    return divide(MAX_NODE_SCORE * (clipped - MIN_THRESHOLD), highest - MIN_THRESHOLD)


def _build_image_term(nodes: NodeTable, row: int, name: str) -> formulas.Expression:
    """Return the expression for one image's part of the score."""
    image = nodes.images.get(name)
    if image is None or row not in image.rows:
        return formulas.Value(0, _ABSENT, "memory")
    source = Source("Node", nodes.names[row], "status.images")
    spread = formulas.share(formulas.Value(image.num_nodes, _HOLDERS), formulas.Value(len(nodes), _NODES))
    return formulas.whole(formulas.times(formulas.Value(image.size, _SIZE, "memory", source), spread))
