"""ImageLocality: prefers nodes that already have the pod's images, weighed by size and by how widely they are spread.

kube: plugins/imagelocality/image_locality.go @ v1.34.1
"""

from __future__ import annotations

import numpy as np

from scheduler_core.cluster.table import ImageState, NodeTable
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.plugin import MAX_NODE_SCORE, Plugin, Rows, Scores
from scheduler_core.objects.pod import Pod
from scheduler_core.plugins.helper.go_math import divide
from scheduler_core.plugins.helper.memo import remember

NAME = "ImageLocality"

MIB = 1024 * 1024
MIN_THRESHOLD = 23 * MIB
MAX_CONTAINER_THRESHOLD = 1000 * MIB


class ImageLocality(Plugin):
    """The score depends on Node objects and the pod's images alone, so it is kept per distinct list of images."""

    name = NAME

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Scores:
        images, containers = pod.spec.images, pod.spec.num_image_containers
        key = (NAME, images, containers)
        return remember(nodes.memo, key, lambda: _score_table(nodes, images, containers))[rows]


def _scaled(image: ImageState, total_nodes: int) -> int:
    """The image's size times the share of nodes that have it, in Go's order of float64 operations."""
    return int(float(image.size) * (float(image.num_nodes) / float(total_nodes)))


def _score_table(nodes: NodeTable, images: tuple[str, ...], containers: int) -> Scores:
    sums = np.zeros(len(nodes), np.int64)
    for name in images:
        image = nodes.images.get(name)
        if image is not None:
            sums[image.rows] += np.int64(_scaled(image, len(nodes)))
    highest = MAX_CONTAINER_THRESHOLD * containers
    # A sum below the lower bound is raised first, so that a pod without containers scores 0 as in kube.
    clipped = np.where(sums < MIN_THRESHOLD, MIN_THRESHOLD, np.where(sums > highest, highest, sums))
    return divide(MAX_NODE_SCORE * (clipped - MIN_THRESHOLD), highest - MIN_THRESHOLD)
