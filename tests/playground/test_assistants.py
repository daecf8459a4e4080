"""`scheduler-playground mcp`: the tools over standard input and output, asked by the client of the official SDK."""

from __future__ import annotations

import asyncio
import io
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import CommandError, call_command

from tests.browser.server import ROOT
from tests.scheduler_core.worlds import node, pod
from tests.support.schemas import require_schema

CLUSTER = yaml.safe_dump_all([node("n", "2"), pod("p", "3"), pod("q", "1")])
Call = Callable[..., Awaitable[Any]]


def test_without_the_extra_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(CommandError, match=r"pip install 'scheduler-playground\[mcp\]'") as bad:
        call_command("mcp", stdout=io.StringIO(), stderr=io.StringIO())
    assert bad.value.returncode == 2


async def serve(talk: Callable[[Call], Awaitable[None]], *options: str) -> list[Any]:
    """Start the server, let `talk` call tools, and return the tools."""
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    program = "from playground.management.program import main; main()"
    server = StdioServerParameters(command=sys.executable, args=["-c", program, "mcp", *options], cwd=ROOT)
    async with stdio_client(server) as (reads, writes), ClientSession(reads, writes) as session:
        await session.initialize()

        async def call(name: str, **arguments: Any) -> Any:
            done = await session.call_tool(name, arguments)
            if done.is_error:
                return done.content[0].text
            require_schema(done.structured_content, done.structured_content["schema"])
            return done.structured_content

        tools = (await session.list_tools()).tools
        await talk(call)
        return list(tools)


def test_an_assistant_proves_what_it_advises() -> None:
    async def talk(call: Call) -> None:
        (answer,) = (await call("fix", manifests=CLUSTER, pod="default/p"))["pods"]
        larger = next(fix for fix in answer["fixes"] if fix["kind"] == "node")
        proof = await call("whatif", manifests=CLUSTER, kubectl=[larger["command"]])
        assert (proof["pending"], proof["pendingWithout"]) == ([], ["default/p"])
        first = await call("step", manifests=CLUSTER, count=2)
        assert (first["world"], [each["outcome"] for each in first["attempts"]]) == (
            "w1",
            ["unschedulable", "scheduled"],
        )
        fork = await call("fork", world="w1", at=1, apply=yaml.safe_dump(node("m", "4")))
        assert (fork["world"], fork["attempts"]) == ("w2", [])
        assert [each["pod"] for each in (await call("explain", world="w1"))["pods"] if each["problem"]] == ["default/p"]
        for said, arguments in {
            "received no cluster": {},
            "received the world 'w9'": {"world": "w9"},
            "received the file '/etc/passwd'": {"files": ["/etc/passwd"]},
            "'bogus' was unexpected": {"bogus": 1},
            "there is no such pod": {"manifests": CLUSTER, "pods": ["default/o"]},
        }.items():
            assert said in await call("explain", **arguments)

    tools = asyncio.run(serve(talk))
    assert [tool.name for tool in tools] == ["explain", "fix", "simulate", "whatif", "step", "fork"]
    assert all(tool.annotations.read_only_hint for tool in tools)
    documented = (ROOT / "docs/assistants.md").read_text()
    assert [name for tool in tools for name in tool.input_schema["properties"] if f"`{name}`" not in documented] == []


def test_files_are_read_below_the_folder_and_time_is_limited(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/c.yaml").write_text(CLUSTER)
    (tmp_path / "out.yaml").write_text(CLUSTER)
    (tmp_path / "in/link.yaml").symlink_to(tmp_path / "out.yaml")

    async def talk(call: Call) -> None:
        assert "was ended after 0.01 s" in await call("simulate", files=["c.yaml"])
        for file in ("../out.yaml", "link.yaml", str(tmp_path / "out.yaml")):
            assert "expected one below the server's folders" in await call("simulate", files=[file])

    asyncio.run(serve(talk, "--folder", str(tmp_path / "in"), "--seconds", "0.01"))
