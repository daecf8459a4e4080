"""Summary: the subject at a glance, a pod, a node, a claim or a controller."""

from playground.presenters.inspector import node, objects, pod
from playground.presenters.inspector.node import NodeBody, NoNode
from playground.presenters.inspector.objects import NoObject, ObjectBody
from playground.presenters.inspector.pod import GonePod, NoPod, PodBody
from playground.presenters.look import Look
from scheduler_core.world.readonly import WorldView


def present(
    sim: WorldView, look: Look, key: str
) -> ObjectBody | NoObject | NodeBody | NoNode | PodBody | GonePod | NoPod:
    """Return the panel data of the selected object, with its type under `about`."""
    if look.about in ("claim", "controller") and getattr(look, look.about):
        return objects.present(sim, look, key)
    if look.about == "node":
        return node.present(sim, look, key)
    return pod.present(sim, look, key)
