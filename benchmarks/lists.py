"""How fast does the API of a session list, and take what kubectl applies? `python -m benchmarks.lists` brings 5,000 nodes and 50,000 bound
pods into one session, reads the bytes of both lists, and applies 500 ConfigMaps to another with kubectl (KUBECTL names it).

Memory is what the server's processes have while they answer, at its most, beyond what they had before; what they share counts each time.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

from benchmarks.large_import.__main__ import Meter, resident
from benchmarks.probe import probe
from benchmarks.server import Client, serve
from tests.browser.server import PlaygroundServer
from tests.playground.sessions.worlds import node, pod

NODES, PODS, APPLIED, TIMES = 5_000, 50_000, 500, 3


def read(server: PlaygroundServer, path: str) -> int:
    """The bytes of an answer, of which none are kept."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", path)
    answer, size = connection.getresponse(), 0
    assert answer.status == 200
    while part := len(answer.read(1 << 18)):
        size += part
    return size


def tell(what: str, server: PlaygroundServer, work: Callable[[], int]) -> None:
    """Do something some times; its times, and the memory that it took."""
    assert server.process is not None
    times, meter = [], Meter(server.process.pid)
    before = sum(map(resident, meter.processes()))
    meter.start()
    for _ in range(TIMES):
        begun = time.perf_counter()
        size = work()
        times.append(time.perf_counter() - begun)
    meter.over.set()
    meter.join()
    each, most = ", ".join(f"{one * 1000:,.0f}" for one in sorted(times)), (meter.most - before) / (1 << 20)
    print(f"{what}: {each} ms, {size / 1e6:.1f} MB, memory {most:+.0f} MiB", flush=True)


def apply(server: PlaygroundServer, folder: Path) -> int:
    """Apply ConfigMaps to a new session by kubectl."""
    client = Client(server)
    config, maps = folder / "kubeconfig", folder / "maps.yaml"
    config.write_bytes(urllib.request.urlopen(f"{server.url}/s/{client.key}/kubeconfig").read())
    item = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1"}}
    items = [{**item, "metadata": {"name": f"c-{number}"}} for number in range(APPLIED)]
    maps.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    kubectl = [os.environ.get("KUBECTL", "kubectl"), "--kubeconfig", str(config), "apply", "-f", str(maps)]
    return len(subprocess.run(kubectl, check=True, capture_output=True, env={**os.environ, "HOME": str(folder)}).stdout)


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="so much of the cluster (default: %(default)s)")
    nodes, pods = (round(count * parser.parse_args().share) for count in (NODES, PODS))
    with serve() as server, tempfile.TemporaryDirectory() as folder:
        tell(f"kubectl apply of {APPLIED} ConfigMaps", server, lambda: apply(server, Path(folder)))
        client = Client(server)
        bound = [pod(f"p{number}") for number in range(pods)]
        for number, each in enumerate(bound):
            each["spec"]["nodeName"] = f"n{number % nodes}"
        client.bring([node(f"n{number}") for number in range(nodes)] + bound)
        path = f"/s/{client.key}/k8s/api/v1"
        for kind, count in (("nodes", nodes), ("pods", pods)):
            tell(f"a list of {count:,} {kind}", server, lambda kind=kind: read(server, f"{path}/{kind}"))  # type: ignore[misc]
    print("probe:", probe())


if __name__ == "__main__":
    main()
