"""The file of an experiment: worlds, variants of the scheduler, and seeds; and the runs that follow from it."""

import hashlib
import math
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from scheduler_core import ENGINE_VERSION
from scheduler_core.analysis.whatif.node_types import ListedType
from scheduler_core.apimachinery.objects import InvalidObject, parse_duration
from scheduler_core.apimachinery.objects.loading import load_manifests
from scheduler_core.apimachinery.objects.quantity import parse_quantity
from scheduler_core.base.clock.agenda import MILLISECOND, Stream
from scheduler_core.base.releases import NEWEST

Name = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][-A-Za-z0-9._=]{0,126}$")]
Count = Annotated[int, msgspec.Meta(ge=1, le=20_000)]
Weight = Annotated[int, msgspec.Meta(ge=1, le=100)]
MOST_RUNS = 100_000
COLUMNS = 2  # version of a row's columns: one table has rows of one version only


class _FilePart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of the file: unknown fields are errors."""


class Spread(_FilePart, frozen=True):
    """A distribution of durations with this mean. `uniform` goes from 0 to twice the mean; `lognormal` has the sigma 1."""

    mean: Annotated[str, msgspec.Meta(description="A duration such as 500ms, 30s, or 1h30m.")]
    distribution: Literal["exponential", "fixed", "uniform", "lognormal"] = "exponential"

    def __post_init__(self) -> None:
        parse_duration(self.mean)

    def draw(self, dice: Stream) -> int:
        """Return one duration, in whole milliseconds."""
        part, factor = (dice.below(1 << 52) / (1 << 52) if self.distribution != "fixed" else 0.0), 1.0
        if self.distribution == "exponential":
            factor = -math.log(1 - part)
        elif self.distribution == "uniform":
            factor = 2 * part
        elif self.distribution == "lognormal":
            turn = 2 * math.pi * (dice.below(1 << 52) / (1 << 52))
            factor = math.exp(math.sqrt(-2 * math.log(1 - part)) * math.cos(turn) - 0.5)
        return round(parse_duration(self.mean) * factor / MILLISECOND) * MILLISECOND


Times = Spread | Literal["recorded"]


class PodsOf(_FilePart, frozen=True):
    """Generated pods: each draws one of the amounts of every list; an amount that is there twice is drawn twice as often."""

    count: Count
    cpu: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    memory: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)] = ("0",)
    requests: Annotated[
        dict[str, Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]],
        msgspec.Meta(description="Other resources, such as nvidia.com/gpu, with their amounts."),
    ] = {}
    priority: Annotated[int, msgspec.Meta(ge=-1_000_000_000, le=1_000_000_000)] = 0
    namespace: Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$")] = "default"

    def __post_init__(self) -> None:
        for amounts in (self.cpu, self.memory, *self.requests.values()):
            for amount in amounts:
                parse_quantity(amount)


class WorldSource(_FilePart, frozen=True):
    """Objects of files, new nodes of types, and generated pods."""

    name: Name
    files: Annotated[
        list[str],
        msgspec.Meta(
            description="What kubectl prints, manifests, a CSV table of pods, a session's trace (.jsonl), or a trace of "
            "SimKube; also .xz. Beside the experiment's file."
        ),
    ] = []
    again: Annotated[bool, msgspec.Meta(description="Place pods of the files that already have a node again.")] = False
    nodes: Annotated[dict[str, Count], msgspec.Meta(description="New nodes, by node type.")] = {}
    pods: list[PodsOf] = []
    arrivals: Annotated[
        Times | None,
        msgspec.Meta(description="The time between two pods, or recorded. Without it, all pods exist from the start."),
    ] = None
    durations: Annotated[
        Times | None,
        msgspec.Meta(description="The time from a pod's node until its end, or recorded. Without it, pods stay."),
    ] = None
    speed: Annotated[float, msgspec.Meta(gt=0, le=1e6, description="Recorded times are divided by this factor.")] = 1.0
    shuffle: Annotated[bool, msgspec.Meta(description="The seed decides the order of the pods.")] = False
    nodes_at_most: Annotated[Count | None, msgspec.Meta(description="Take every n-th node of the files.")] = None
    pods_at_most: Annotated[Count | None, msgspec.Meta(description="Take every n-th pod of the files.")] = None

    def __post_init__(self) -> None:
        if self.shuffle and self.arrivals == "recorded":
            raise ValueError("received shuffle with recorded arrivals; expected one of them")


class Variant(_FilePart, frozen=True):
    """A configuration of the scheduler. `weights` are set in the first profile; `nodes` are added, by type."""

    name: Name
    configuration: Annotated[
        dict[str, Any] | None,
        msgspec.Meta(description="A KubeSchedulerConfiguration; apiVersion and kind may be left out."),
    ] = None
    weights: Annotated[dict[str, Weight], msgspec.Meta(description="Weights of score plugins, by name.")] = {}
    release: Annotated[str, msgspec.Meta(description="A release of Kubernetes, such as 1.36 or 1.34.1.")] = NEWEST
    gates: Annotated[str, msgspec.Meta(description="Feature gates in the form of kube-scheduler: A=true,B=false.")] = ""
    nodes: Annotated[dict[str, Count], msgspec.Meta(description="Nodes added to the world, by type.")] = {}


class Experiment(_FilePart, frozen=True, rename={"types": "nodeTypes"}):
    """Every world under every variant with every seed from 0 on."""

    worlds: Annotated[list[WorldSource], msgspec.Meta(min_length=1)]
    variants: Annotated[list[Variant], msgspec.Meta(min_length=1)]
    sweep: Annotated[
        dict[str, list[Weight]],
        msgspec.Meta(description="Weights to try, by score plugin: each is the first variant with that weight."),
    ] = {}
    seeds: Annotated[int, msgspec.Meta(ge=1, le=1_000)] = 10
    types: list[ListedType] = []

    def __post_init__(self) -> None:
        for what, names in (("world", [w.name for w in self.worlds]), ("variant", [v.name for v in self.all_variants])):
            if twice := next((name for name in names if names.count(name) > 1), ""):
                raise ValueError(f"received two {what}s named {twice}; expected different names")
        if (runs := len(self.worlds) * len(self.all_variants) * self.seeds) > MOST_RUNS:
            raise ValueError(f"received {runs} runs; expected at most {MOST_RUNS}")

    @property
    def all_variants(self) -> list[Variant]:
        """The variants, including those of the sweep."""
        first = self.variants[0]
        return self.variants + [
            msgspec.structs.replace(first, name=f"{plugin}={weight}", weights={**first.weights, plugin: weight})
            for plugin, weights in self.sweep.items()
            for weight in weights
        ]


class Run(msgspec.Struct, frozen=True):
    """One run, as it is sent to a worker. `folder` is the folder of the world's files."""

    world: WorldSource
    variant: Variant
    seed: int
    types: list[ListedType]
    folder: str = ""

    def digest(self) -> str:
        """Return the hash of all inputs of the result: the run itself, its files, and the engine."""
        files = [hashlib.sha256((Path(self.folder) / name).read_bytes()).hexdigest() for name in self.world.files]
        said = [ENGINE_VERSION, COLUMNS, self.world, self.variant, self.seed, self.types, files]
        return hashlib.sha256(msgspec.json.encode(said, order="deterministic")).hexdigest()[:32]


def read_experiment(text: str) -> Experiment:
    """Return the experiment of a YAML file. Raise ValueError with the received value, the expected value, and the place."""
    try:
        documents = [loaded.manifest for loaded in load_manifests(text)]
    except InvalidObject as error:
        raise ValueError(str(error)) from None
    if len(documents) != 1:
        raise ValueError(f"received {len(documents)} documents; expected one, with worlds and variants")
    return msgspec.convert(documents[0], Experiment)


def list_runs(experiment: Experiment, folder: str) -> list[Run]:
    """Return the runs in the order of their rows."""
    return [
        Run(world, variant, seed, experiment.types, folder)
        for world in experiment.worlds
        for variant in experiment.all_variants
        for seed in range(experiment.seeds)
    ]
