"""The commands `scheduler-playground` and `kubectl sched`, as pip installs them; manage.py starts the same ones for clusters."""

import os
import secrets
import sys
from collections.abc import Sequence
from importlib import import_module
from textwrap import TextWrapper

PROGRAM, PLUGIN = "scheduler-playground", "kubectl sched"
CLUSTERS = {
    "explain": "why pods of a cluster are Pending, missing, or stuck, and what would help",
    "simulate": "run a cluster and print where its pods go",
    "whatif": "what changes with other nodes, replicas or another configuration, and how many more pods fit",
    "capacity": "which nodes would help the pods that wait, and which nodes can go",
    "mirror": "watch a cluster, explain each new Pending pod, and answer what-if questions about it",
    "step": "go on with a cluster step by step, and keep the steps as a trace",
}
COMMANDS = {
    **CLUSTERS,
    "experiment": "compare configurations of the scheduler over worlds and seeds",
    "mcp": "serve the commands about clusters to an assistant, by the Model Context Protocol",
    "serve": "serve the playground's pages",
    "kubeconfig": "a kubeconfig that leads kubectl to a session",
    "second-opinion": "run a kube-scheduler of your own in a fork of a session, and compare",
    "door": "a local https listener that forwards to a session, for tools that need one",
    "export": "a session's trace in a form that other tools read",
    "lessons": "list and check lessons",
    "conformance": "compare with what the real scheduler decided",
    "backup": "keep every session in a file",
    "restore": "bring sessions back from such a file",
}
# These commands start fast: they need no app, no database, and no language.
WITHOUT_DJANGO = (*CLUSTERS, "experiment", "mcp", "conformance", "kubeconfig", "door", "second-opinion")
WITH_DATA = ("serve", "backup", "restore", "export")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command of scheduler-playground."""
    _start(PROGRAM, COMMANDS, sys.argv[1:] if arguments is None else arguments)


def main_of_plugin() -> None:
    """Run a command of kubectl's plugin, which has only the commands about clusters."""
    _start(PLUGIN, CLUSTERS, sys.argv[1:])


def _start(program: str, commands: dict[str, str], given: Sequence[str]) -> None:
    name = given[0] if given else "--help"
    if name in ("--version", "version"):
        from playground import VERSION
        from scheduler_core.scheduler.config import RELEASES

        print(f"{program} {VERSION} (kube-scheduler v{RELEASES[0]} to v{RELEASES[-1]})")
        return
    if name in commands:
        if name not in WITH_DATA:
            os.environ.setdefault("SECRET_KEY", secrets.token_urlsafe())  # nothing is signed, nothing is kept
        run(program, given)
        return
    asked = name in ("-h", "--help", "help")
    if not asked:
        sys.stderr.write(f"{program}: there is no command {name!r}.\n")
    width = max(map(len, commands))
    wrap = TextWrapper(80, "  ", " " * (width + 4)).fill
    lines = [f"Usage: {program} COMMAND [...]", "COMMAND --help and --version say more.", ""]
    lines += [wrap(f"{name:<{width}}  {what}") for name, what in commands.items()]
    (sys.stdout if asked else sys.stderr).write("\n".join([*lines, ""]))
    sys.exit(0 if asked else 2)


def run(program: str, given: Sequence[str]) -> None:
    """Run a command of manage.py, loading only the needed parts of Django."""
    if given and given[0] in WITHOUT_DJANGO:
        from django.conf import settings

        settings.configure(USE_I18N=False)
        module = import_module(f"playground.management.commands.{given[0].replace('-', '_')}")
        module.Command().run_from_argv([program, *given])
        return
    from django.core.management import ManagementUtility

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "playground.settings")
    ManagementUtility([program, *given]).execute()
