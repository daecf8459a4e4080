"""An API server of a cluster, with what is in every cluster, and pods to ask it for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from scheduler_core.apiserver.options import APIServerOptions
from scheduler_core.apiserver.server import APIServer, make_standing_objects
from scheduler_core.apiserver.status import Answer, Refused
from scheduler_core.apiserver.store import Store


def api_server(*objects: Mapping[str, Any], **flags: Any) -> APIServer:
    """With objects that were created in turn; flags are those of kube-apiserver, with underscores."""
    api = APIServer(Store(), options(**flags), 0)
    make_standing_objects(api)
    for manifest in objects:
        api.create(manifest)
    return api


def options(**flags: Any) -> APIServerOptions:
    names = {name.replace("_", "-"): value for name, value in flags.items()}
    camel = {
        name: flags[name] for name in ("podNodeSelectorPluginConfig", "ResourceQuotaConfiguration") if name in flags
    }
    return msgspec.convert({**names, **camel}, APIServerOptions)


def pod(name: str = "p", namespace: str = "default", **spec: Any) -> dict[str, Any]:
    """A pod of one container; `resources` are the container's."""
    container = {"name": "c", "image": "app", "resources": spec.pop("resources", {})}
    return make("Pod", name, namespace, spec={"containers": [container], **spec})


def make(kind: str, name: str, namespace: str = "", api: str = "v1", **fields: Any) -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api, "kind": kind, "metadata": {**metadata, **fields.pop("metadata", {})}, **fields}


def priority_class(name: str, value: int, **fields: Any) -> dict[str, Any]:
    return make("PriorityClass", name, api="scheduling.k8s.io/v1", value=value, **fields)


def refusal(happen: Callable[[], Any]) -> Answer:
    """What the API server answers to a request that it refuses; it answers OK where it does not."""
    try:
        happen()
    except Refused as refused:
        return refused.answer
    return Answer()
