"""Errors of commands at a terminal: one line, without a class name or a number of the system."""

import pkgutil
from importlib import import_module

import pytest

from playground.management import commands
from playground.management.errors import PlainCommand

NAMES = [each.name for each in pkgutil.iter_modules(commands.__path__)]


@pytest.mark.parametrize("name", NAMES)
def test_every_command_prints_errors_plainly(name: str) -> None:
    assert issubclass(import_module(f"{commands.__name__}.{name}").Command, PlainCommand)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["kubeconfig", "nope"], "'nope' is no link of a session. Expected: https://SERVER/s/KEY/."),
        (["lessons", "no-folder"], "no-folder: No such file or directory: 'no-folder/lesson.yaml'"),
        (["serve", "--processes", "0"], "--processes is 0; it must be at least 1."),
        (["export"], "Which trace? Name a file, - for standard input, or a session."),
    ],
)
def test_an_error_is_one_line(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = import_module(f"{commands.__name__}.{arguments[0]}").Command()
    with pytest.raises(SystemExit) as end:
        command.run_from_argv(["scheduler-playground", *arguments])
    assert capsys.readouterr().err == f"error: {said}\n"
    assert end.value.code
