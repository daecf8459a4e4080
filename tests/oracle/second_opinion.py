"""The real kube-scheduler at work in sessions, beside the model: random worlds, openb, or the worlds of the lessons.

`python -m tests.oracle.second_opinion PATH worlds 0 20`, `... openb [PODS]`, `... lessons [SLUG ...]`; kube-scheduler.sh builds PATH.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings

settings.configure(USE_I18N=False)

from benchmarks.openb import openb_objects  # noqa: E402
from playground.management.commands import second_opinion  # noqa: E402
from playground.management.commands.second_opinion import SecondOpinion, _lines, describe, read_version  # noqa: E402  # noqa: E402
from playground.management.terminal.cluster import BadInput  # noqa: E402
from scheduler_core import Cluster  # noqa: E402
from scheduler_core.scheduler.config import OLDEST, read_release  # noqa: E402
from scheduler_core.world.commands import Refused  # noqa: E402
from tests.browser.server import ROOT, PlaygroundServer  # noqa: E402
from tests.door.transcripts import new_session  # noqa: E402
from tests.oracle.worlds import make_world  # noqa: E402

Manifest = dict[str, Any]
PODS = 8152  # of openb
LESSONS = ROOT / "playground/lessons/content"


def complete(manifest: Manifest) -> Manifest:
    """The object of a random world with what an API server demands besides, and without what it would not keep."""
    kind, spec = manifest["kind"], manifest.get("spec") or {}
    if kind == "Service":
        spec.setdefault("ports", [{"port": 80}])
    if kind in ("ReplicaSet", "StatefulSet", "ReplicationController"):
        spec["replicas"] = 0
        labels = (spec.get("selector") or {}).get("matchLabels") or {"app": "x"}
        containers = [{"name": "c", "image": "x"}]
        spec["template"] = {"metadata": {"labels": labels}, "spec": {"containers": containers}}
    if kind in ("Pod", "Node"):
        manifest["metadata"].pop("uid", None)
        manifest["metadata"].pop("ownerReferences", None)
    return manifest


def random_world(seed: int, release: str) -> Cluster:
    """The random world of a seed, without the objects that an API server refuses."""
    world = make_world(seed, OLDEST if release == OLDEST else release)
    cluster = Cluster(seed=seed, release=release, configuration=world["config"])
    objects = [*world["objects"], *world["pending"]]
    there = {each["metadata"]["name"] for each in objects if each["kind"] == "Namespace"} | {"default"}
    for name in sorted({each["metadata"].get("namespace") or "default" for each in objects} - there):
        cluster.add({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    for each in objects:
        try:
            cluster.add(complete(each))
        except Refused as refused:
            print(f"   left out {each['kind']} {each['metadata']['name']}: {str(refused)[:100]}")
    return cluster


def openb(release: str, most: int) -> Cluster:
    """The nodes of openb, and so many of its pods."""
    cluster, objects = Cluster(seed=1, release=release), openb_objects()
    pods = [each for each in objects if each["kind"] == "Pod"]
    cluster.add(*(each for each in objects if each["kind"] != "Pod"), *pods[:most])
    return cluster


def list_links(asked: argparse.Namespace, url: str, release: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the link of a session for each world that is asked for."""
    if asked.what == "lessons":
        slugs = asked.which or sorted(path.name for path in LESSONS.iterdir() if (path / "lesson.yaml").exists())
        for slug in slugs:
            yield slug, f"{url}/s/{new_session(url, start=f'story:{slug}')}/"
        return
    numbers = [int(each) for each in asked.which]
    first, last = (numbers or [0, 20]) if asked.what == "worlds" else (0, 1)
    for seed in range(first, last):
        cluster = random_world(seed, release) if asked.what == "worlds" else openb(release, (*numbers, PODS)[0])
        with tempfile.TemporaryDirectory() as folder:
            trace = cluster.save(Path(folder) / "world.jsonl").read_bytes()
        yield str(seed) if asked.what == "worlds" else "openb", second_opinion._bring(url, trace)


def main() -> None:
    """Print what differs first in each world, and count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path")
    parser.add_argument("what", choices=("worlds", "openb", "lessons"))
    parser.add_argument("which", nargs="*")
    parser.add_argument("--content-type", default="")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--wait", type=int, default=3000, metavar="SECONDS")
    asked = parser.parse_args()
    version, same, count = read_version(asked.path), 0, 0
    folder = Path(tempfile.mkdtemp())
    server = PlaygroundServer(folder, MAX_UPLOAD_BYTES=str(1 << 28), ENGINE_WORKERS="1", ENGINE_HEAVY_WORKERS="1")
    server.manage("migrate", "--verbosity", "0")
    server.start()
    try:
        for name, link in list_links(asked, server.url, read_release(version)):
            begun, count = time.monotonic(), count + 1
            opinion = SecondOpinion(link, version)
            try:
                rests = opinion.run(asked.path, asked.content_type, asked.wait)
            except BadInput as wrong:
                print(f"## {name} cannot be run: {str(wrong)[:300]}", flush=True)
                count -= 1
                continue
            data = describe(opinion.compare(None, asked.wait), version, rests, opinion.fork.link)
            same += not data["different"]
            print(f"## {name} ({time.monotonic() - begun:.0f} s)", *_lines(data), sep="\n", flush=True)
            if asked.out:
                (asked.out / f"{name}.json").write_text(json.dumps(data, indent=1))
        print(f"{same} of {count} agree")
    finally:
        server.stop()


if __name__ == "__main__":
    main()
