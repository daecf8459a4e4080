"""`python manage.py mcp`: the commands about clusters as tools of a Model Context Protocol server, on standard input and output."""

import json
import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

import playground
from playground.management.terminal.cluster import BadInput
from playground.management.terminal.command import TerminalCommand, add_options
from playground.presenters.words import memory

TOOLS = Path(__file__).parents[1] / "assistant.yaml"
EXTRA = "the Python package mcp is not installed; install it by: pip install 'scheduler-playground[mcp]'"
MOST_INPUT, MOST_ANSWER, MOST_ENTRIES, MOST_WORLDS = 32 << 20, 1 << 20, 100, 32
CODE = "import sys; sys.path.insert(0, {root!r}); from playground.management.program import main; main()"
CLUSTER = ("manifests", "files", "world")
Given = Mapping[str, Any]


class Command(TerminalCommand):
    """A command that serves the tools until standard input ends. Each call runs in its own process, with a time limit."""

    help = (
        "Serve explain, fix, simulate, whatif, step, and fork to an assistant by the Model Context Protocol, on standard input and "
        "output. Needs the extra: pip install 'scheduler-playground[mcp]'. Nothing is written but worlds, to a folder that goes at the end."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_options(
            parser,
            ("--folder", [], "DIR", "tools may read files below this folder"),
            ("--context", "", "NAME", "tools that are given no cluster read this one by your kubectl, which only gets"),
            ("--seconds", 60.0, "S", "the longest that a call may take (60)"),
        )

    def handle(self, *args: Any, folder: list[str], context: str, seconds: float, **options: Any) -> None:
        try:
            import anyio
            from mcp import types
            from mcp.server import Server
            from mcp.server.stdio import stdio_server
        except ImportError:
            raise BadInput(EXTRA) from None
        hints = types.ToolAnnotations(read_only_hint=True, open_world_hint=False)

        async def list_tools(ctx: Any, params: Any) -> Any:
            rows = [(name, tool["description"], describe(name)) for name, tool in read_table()["tools"].items()]
            tools = [types.Tool(name=n, description=said, input_schema=s, annotations=hints) for n, said, s in rows]
            return types.ListToolsResult(tools=tools)

        async def call_tool(ctx: Any, params: Any) -> Any:
            try:
                data, notes = await desk.call(params.name, params.arguments or {})
            except (BadInput, OSError, ValueError) as bad:
                return types.CallToolResult(content=[types.TextContent(type="text", text=str(bad))], is_error=True)
            texts = filter(None, (json.dumps(data, ensure_ascii=False), notes))
            content: list[Any] = [types.TextContent(type="text", text=text) for text in texts]
            return types.CallToolResult(content=content, structured_content=data)

        async def serve() -> None:
            asked = {"on_list_tools": list_tools, "on_call_tool": call_tool, "instructions": read_table()["about"]}
            server: Any = Server("scheduler-playground", version=playground.VERSION, **asked)
            async with stdio_server() as (reads, writes):
                await server.run(reads, writes, server.create_initialization_options())

        with TemporaryDirectory(prefix="scheduler-playground-") as place:
            desk = ToolSession(Path(place), [Path(each).resolve() for each in folder], context, seconds)
            anyio.run(serve)


@cache
def read_table() -> Given:
    """Return the tools and their parameters."""
    table: Given = yaml.safe_load(TOOLS.read_text())
    return table


def describe(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments."""
    tool, properties = read_table()["tools"][name], {}
    for each in (*CLUSTER, *tool["takes"], "release", "configuration"):
        properties[each] = {k: v for k, v in read_table()["parameters"][each].items() if k not in ("option", "file")}
        if properties[each]["type"] == "array":
            properties[each] |= {"items": {"type": "string", "minLength": 1}, "maxItems": MOST_ENTRIES}
    required = tool.get("required", [])
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


class ToolSession:
    """The calls of one client, one after the other, and the saved worlds, in files of `place`."""

    def __init__(self, place: Path, folders: Sequence[Path], context: str, seconds: float) -> None:
        import anyio

        self._place, self._folders, self._context, self._seconds = place, folders, context, seconds
        self._lock = anyio.Lock()
        self._worlds: list[str] = []

    async def call(self, name: str, given: Given) -> tuple[dict[str, Any], str]:
        """Return the command's data, and its notes. Raise BadInput."""
        from jsonschema import Draft202012Validator

        tools = read_table()["tools"]
        if name not in tools:
            raise BadInput(f"received the tool {name!r}; expected one of {', '.join(tools)}")
        errors = Draft202012Validator(describe(name)).iter_errors(given)
        if said := "; ".join(f"{error.json_path}: {error.message[:300]}" for error in errors):
            raise BadInput(said)
        async with self._lock:
            words = [*tools[name]["command"], "-o=json", *self._list_options(given), *self._list_cluster(given)]
            if "keeps" not in tools[name]:
                return await self._run(words)
            world = given["world"] if name == "step" and "world" in given else f"w{len(self._worlds) + 1}"
            if world not in self._worlds and len(self._worlds) == MOST_WORLDS:
                raise BadInput(f"{MOST_WORLDS} worlds are kept, and no more; go on with one of them")
            data, notes = await self._run([*words, f"--save={self._place / 'new.jsonl'}"])
            os.replace(self._place / "new.jsonl", self._place / f"{world}.jsonl")
            self._worlds = list(dict.fromkeys((*self._worlds, world)))
            return {**data, "world": world}, notes

    def _write(self, file: str, text: str) -> str:
        (self._place / file).write_text(text, "utf-8", "replace")
        return str(self._place / file)

    def _list_options(self, given: Given) -> Iterator[str]:
        for name, value in given.items():
            parameter = read_table()["parameters"][name]
            if "file" in parameter:
                value = self._write(parameter["file"], value)
            if "option" in parameter:
                yield from (f"{parameter['option']}={each}" for each in (value if isinstance(value, list) else [value]))

    def _list_cluster(self, given: Given) -> Iterator[str]:
        named = [name for name in CLUSTER if given.get(name)]
        if not named and self._context:
            yield f"--context={self._context}"
            return
        if not named or ("world" in named and len(named) > 1):
            raise BadInput(f"received {' and '.join(named) or 'no cluster'}; expected manifests and files, or a world")
        if "manifests" in named:
            yield self._write("manifests.yaml", given["manifests"])
        if "world" in named:
            if given["world"] not in self._worlds:
                raise BadInput(
                    f"received the world {given['world']!r}; expected one of {', '.join(self._worlds) or 'none'}"
                )
            yield str(self._place / f"{given['world']}.jsonl")
        found = [self._find_file(file) for file in given.get("files") or ()]
        read = [each for file in found for each in (file.rglob("*") if file.is_dir() else [file]) if each.is_file()]
        size = len(json.dumps(given)) + sum(each.stat().st_size for each in read)
        if size > MOST_INPUT:
            raise BadInput(f"received {memory(size)} of manifests; expected {memory(MOST_INPUT)} at most")
        yield from map(str, found)

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
            raise BadInput(f"the call was ended after {self._seconds:g} s; ask about less, or start with --seconds")
        notes = done.stderr.decode(errors="replace").strip().replace(f"{self._place}{os.sep}", "")
        if len(done.stdout) > MOST_ANSWER:
            most = f"{memory(len(done.stdout))}, and may have {memory(MOST_ANSWER)}"
            raise BadInput(f"the answer has {most}; name pods or a namespace")
        try:
            return json.loads(done.stdout), notes
        except ValueError:
            raise BadInput(notes or f"the command ended with status {done.returncode}") from None
