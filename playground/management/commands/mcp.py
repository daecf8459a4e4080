"""`python manage.py mcp`: the commands about clusters as tools of a Model Context Protocol server, on standard input and output."""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import playground
from playground.management.terminal.command import TerminalCommand
from playground.management.terminal.inputs import BadInput
from playground.presenters.amounts import memory
from scheduler_core.scheduler.config import RELEASES
from scheduler_core.world.simulation import Grain

EXTRA = "the Python package mcp is not installed; install it by: pip install 'scheduler-playground[mcp]'"
SECONDS = 60.0
MOST_INPUT, MOST_ANSWER = 32 << 20, 1 << 20  # bytes
MOST_WORLDS = 32
CODE = "import sys; sys.path.insert(0, {root!r}); from playground.management.program import main; main()"
ABOUT = (
    "A deterministic model of kube-scheduler and of the cluster around it. Prove before you advise: explain says why pods are "
    "Pending, fix searches for changes and proves each on a copy, and whatif shows what a change of your own (kubectl commands, "
    "manifests, drains, another release or configuration) does to every pod. step and fork keep worlds, which the other tools take. "
    "No tool changes a real cluster. Give the whole cluster: nodes, pods, workloads, claims, and classes."
)
STRING: Mapping[str, Any] = {"type": "string"}
STRINGS: Mapping[str, Any] = {"type": "array", "items": {"type": "string", "minLength": 1}, "maxItems": 100}


class Parameter(NamedTuple):
    """An argument of a tool. `option`: that of the command; `file`: where the text is written for the option."""

    schema: Mapping[str, Any]
    option: str
    said: str
    file: str = ""


PARAMETERS: Mapping[str, Parameter] = {
    "manifests": Parameter(STRING, "", "YAML or JSON of the cluster's objects, as kubectl get -o yaml prints them"),
    "files": Parameter(STRINGS, "", "files or folders of manifests, or a trace, below a folder of --folder"),
    "world": Parameter(STRING, "", "a world that step or fork made, such as w1"),
    "namespace": Parameter(STRING, "--namespace", "only what is in this namespace; that of names without one"),
    "release": Parameter({"enum": [*RELEASES]}, "--release", "the release of kube-scheduler"),
    "configuration": Parameter(STRING, "--config", "a KubeSchedulerConfiguration as YAML", "configuration.yaml"),
    "pods": Parameter(STRINGS, "--pod", "NAMESPACE/NAME of pods, KIND/NAMESPACE/NAME of workloads, Node/NAME"),
    "pod": Parameter(STRING, "--pod", "NAMESPACE/NAME of a pod, KIND/NAMESPACE/NAME of a workload, or Node/NAME"),
    "seconds": Parameter(
        {"type": "number", "minimum": 0, "maximum": 30}, "--seconds", "how long the search may compute (3)"
    ),
    "drain": Parameter(STRINGS, "--drain", "nodes to drain, with respect for budgets"),
    "remove": Parameter(STRINGS, "--remove", "nodes that are lost at once"),
    "add": Parameter(STRINGS, "--add", "N=NODE: so many new nodes like one that exists"),
    "scale": Parameter(STRINGS, "--scale", "KIND/NAMESPACE/NAME=N: a workload with so many replicas"),
    "kubectl": Parameter(STRINGS, "--run", "kubectl commands in the form in which fix prints them, heredocs included"),
    "apply": Parameter(STRING, "--apply", "manifests that are applied, as YAML", "apply.yaml"),
    "more": Parameter(STRINGS, "--more", "[N=]KIND/NAMESPACE/NAME: how many more of these pods fit"),
    "grain": Parameter({"enum": [*Grain]}, "--grain", "how large a step is (pod)"),
    "count": Parameter({"type": "integer", "minimum": 0, "maximum": 10_000}, "--count", "how many steps (1)"),
    "at": Parameter({"type": "integer", "minimum": 0}, "--at", "the step of the world to fork at, if not its newest"),
}
CLUSTER = ("manifests", "files", "world")
CHANGES = ("kubectl", "apply")


class Tool(NamedTuple):
    """A tool: the command that answers, with these options always."""

    command: str
    said: str
    takes: tuple[str, ...]
    options: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    keeps: bool = False  # a world

    def describe(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        properties = {name: {**PARAMETERS[name].schema, "description": PARAMETERS[name].said} for name in self.takes}
        return {"type": "object", "properties": properties, "required": list(self.needs), "additionalProperties": False}


TOOLS: Mapping[str, Tool] = {
    "explain": Tool(
        "explain",
        "Say why pods are Pending, missing, or stuck: a sentence, and kube's reasons with evidence. Prints explain/v1.",
        (*CLUSTER, "pods", "namespace", "release", "configuration"),
        ("--fixes=0",),
    ),
    "fix": Tool(
        "explain",
        "Search for changes that let a pod be scheduled. Each was proven on a copy; `command` is what to type. Prints explain/v1.",
        (*CLUSTER, "pod", "seconds", "release", "configuration"),
        ("--fixes=1",),
        ("pod",),
    ),
    "simulate": Tool(
        "simulate",
        "Run a cluster with its controllers until it is at rest, and print where its pods go. Prints simulate/v1.",
        (*CLUSTER, "namespace", "release", "configuration"),
    ),
    "whatif": Tool(
        "whatif",
        "Compare the cluster with and without changes, all made at once: who moves, waits, is evicted, or fails. Prints whatif/v1.",
        (*CLUSTER, "drain", "remove", "add", "scale", *CHANGES, "more", "release", "configuration", "namespace"),
    ),
    "step": Tool(
        "step",
        "Go on with a cluster step by step, and say what happened. `world` goes on where it stands. Prints step/v1 and the world.",
        (*CLUSTER, "grain", "count", *CHANGES, "release", "configuration"),
        keeps=True,
    ),
    "fork": Tool(
        "step",
        "Make a second world of one, at any of its steps, with changes of your own. Prints step/v1 and the new world.",
        (*CLUSTER, "at", *CHANGES, "release", "configuration"),
        ("--count=0",),
        keeps=True,
    ),
}


class Command(TerminalCommand):
    """Serves the tools until standard input ends. Each call is a process of its own, whose time is limited."""

    help = (
        "Serve explain, fix, simulate, whatif, step, and fork to an assistant by the Model Context Protocol, on standard input and "
        "output. Needs the extra: pip install 'scheduler-playground[mcp]'. Nothing is written but worlds, to a folder that goes at the end."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments for what the tools may read."""
        parser.add_argument(
            "--folder", action="append", default=[], metavar="DIR", help="tools may read files below this folder"
        )
        parser.add_argument(
            "--context",
            default="",
            help="tools that are given no cluster read this one by your kubectl, which only gets",
        )
        parser.add_argument("--seconds", type=float, default=SECONDS, help="the longest that a call may take (60)")

    def handle(self, *args: Any, folder: list[str], context: str, seconds: float, **options: Any) -> None:
        """Serve."""
        try:
            import anyio
            from mcp import types
            from mcp.server import Server
            from mcp.server.stdio import stdio_server
        except ImportError:
            raise BadInput(EXTRA) from None
        hints = types.ToolAnnotations(read_only_hint=True, open_world_hint=False)

        async def list_tools(ctx: Any, params: Any) -> Any:
            return types.ListToolsResult(
                tools=[
                    types.Tool(name=name, description=tool.said, input_schema=tool.describe(), annotations=hints)
                    for name, tool in TOOLS.items()
                ]
            )

        async def call_tool(ctx: Any, params: Any) -> Any:
            try:
                data, notes = await desk.call(params.name, params.arguments or {})
            except BadInput as bad:
                return types.CallToolResult(content=[types.TextContent(type="text", text=str(bad))], is_error=True)
            texts = [json.dumps(data, ensure_ascii=False), *([notes] if notes else [])]
            return types.CallToolResult(
                content=[types.TextContent(type="text", text=text) for text in texts], structured_content=data
            )

        async def serve() -> None:
            server: Any = Server(
                "scheduler-playground",
                version=playground.VERSION,
                instructions=ABOUT,
                on_list_tools=list_tools,
                on_call_tool=call_tool,
            )
            async with stdio_server() as (reads, writes):
                await server.run(reads, writes, server.create_initialization_options())

        with TemporaryDirectory(prefix="scheduler-playground-") as place:
            desk = Desk(Path(place), [Path(each).resolve() for each in folder], context, seconds)
            anyio.run(serve)


class Desk:
    """The calls of one client, one after the other, and the worlds that it keeps, in files of `place`."""

    def __init__(self, place: Path, folders: Sequence[Path], context: str, seconds: float) -> None:
        import anyio

        self._place, self._folders, self._context, self._seconds = place, folders, context, seconds
        self._lock = anyio.Lock()
        self._worlds = 0

    async def call(self, name: str, given: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
        """The command's data, and what it says beside it. BadInput."""
        tool = TOOLS.get(name)
        if tool is None:
            raise BadInput(f"received the tool {name!r}; expected one of {', '.join(TOOLS)}")
        require_arguments(tool, given)
        async with self._lock:
            words = [tool.command, "-o=json", *tool.options, *self._list_words(given)]
            kept = self._kept(given, name) if tool.keeps else ""
            new = self._place / "new.jsonl"
            data, notes = await self._run([*words, f"--save={new}"] if kept else words)
            if kept:
                os.replace(new, self._place / f"{kept}.jsonl")
                self._worlds = max(self._worlds, int(kept[1:]))
                data["world"] = kept
            return data, notes

    def _kept(self, given: Mapping[str, Any], name: str) -> str:
        """The name of the world that a call makes or goes on with."""
        if name == "step" and "world" in given:
            return str(given["world"])
        if self._worlds == MOST_WORLDS:
            raise BadInput(
                f"{MOST_WORLDS} worlds are kept, and no more; go on with one of them, or start the server anew"
            )
        return f"w{self._worlds + 1}"

    def _list_words(self, given: Mapping[str, Any]) -> Iterator[str]:
        """Yield the command's arguments; texts are written to files."""
        for name, value in given.items():
            parameter = PARAMETERS[name]
            if parameter.file:
                (self._place / parameter.file).write_text(value)
                value = self._place / parameter.file
            if parameter.option:
                yield from (f"{parameter.option}={each}" for each in (value if isinstance(value, list) else [value]))
        yield from self._list_cluster(given)

    def _list_cluster(self, given: Mapping[str, Any]) -> Iterator[str]:
        size, named = len(given.get("manifests", "").encode()), [name for name in CLUSTER if given.get(name)]
        if not named and self._context:
            yield f"--context={self._context}"
            return
        if not named or ("world" in named and len(named) > 1):
            raise BadInput(f"received {' and '.join(named) or 'no cluster'}; expected manifests and files, or a world")
        if "manifests" in named:
            (self._place / "manifests.yaml").write_text(given["manifests"])
            yield str(self._place / "manifests.yaml")
        if "world" in named:
            yield str(self._find_world(given["world"]))
        for file in map(self._find_file, given.get("files") or ()):
            size += sum(
                each.stat().st_size for each in (file.rglob("*") if file.is_dir() else [file]) if each.is_file()
            )
            yield str(file)
        if size > MOST_INPUT:
            raise BadInput(f"received {memory(size)} of manifests; expected {memory(MOST_INPUT)} at most")

    def _find_world(self, name: str) -> Path:
        file = self._place / f"{name}.jsonl"
        if name not in [f"w{number + 1}" for number in range(self._worlds)] or not file.exists():
            raise BadInput(f"received the world {name!r}; expected one that step or fork made: {self._worlds} are kept")
        return file

    def _find_file(self, name: str) -> Path:
        for folder in self._folders:
            found = (folder / name).resolve()
            if found.is_relative_to(folder) and found.exists():
                return found
        where = ", ".join(map(str, self._folders)) or "none; start the server with --folder DIR"
        raise BadInput(f"received the file {name!r}; expected one below the server's folders: {where}")

    async def _run(self, words: Sequence[str]) -> tuple[dict[str, Any], str]:
        import anyio

        code = CODE.format(root=str(Path(playground.__file__).parents[1]))
        with anyio.move_on_after(self._seconds) as limit:
            done = await anyio.run_process([sys.executable, "-P", "-c", code, *words], check=False, cwd=self._place)
        if limit.cancelled_caught:
            raise BadInput(
                f"the call was ended after {self._seconds:g} s; ask about less, or start the server with --seconds"
            )
        notes = done.stderr.decode(errors="replace").strip().replace(f"{self._place}{os.sep}", "")
        if len(done.stdout) > MOST_ANSWER:
            most = f"{memory(len(done.stdout))}, and may have {memory(MOST_ANSWER)}"
            raise BadInput(f"the answer has {most}; name pods or a namespace")
        try:
            return json.loads(done.stdout), notes
        except ValueError:
            raise BadInput(notes or f"the command ended with status {done.returncode}") from None


def require_arguments(tool: Tool, given: Mapping[str, Any]) -> None:
    """Raise BadInput where arguments are not what the tool takes."""
    from jsonschema import Draft202012Validator

    errors = Draft202012Validator(tool.describe()).iter_errors(given)
    if said := "; ".join(f"{error.json_path}: {error.message[:300]}" for error in errors):
        raise BadInput(said)
