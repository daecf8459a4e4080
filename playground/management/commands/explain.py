"""`python manage.py explain FILE...`: why are the pods of a kubectl dump Pending, and what would help?"""

from __future__ import annotations

import gc
import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

import yaml
from django.core.management.base import BaseCommand, CommandError

from playground.management.explaining.answers import Answer, answer, is_pending, missing_pods
from playground.management.explaining.text import lines, summary
from playground.management.terminal.files import BadInput, read_file
from playground.management.terminal.progress import Progress
from playground.management.terminal.world import attempt_all, make_world

PENDING, BAD_INPUT = 1, 2


class Command(BaseCommand):
    """Makes a world of files, lets the pending pods be attempted once, and explains each."""

    help = (
        "Say why pods are Pending: one sentence, the evidence, and fixes that were tried on a copy. Reads what kubectl prints, as the "
        "import does (kubectl get nodes,pods,... -A -o yaml); - is standard input. Each pending pod is attempted once from this snapshot, "
        "in the order in which the scheduler would; where there is no pod at all, the controllers make those of the workloads first. "
        "No database is needed. Exit status: 0 everything fits, 1 something is Pending, 2 the input can't be used."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """What to read, which pod, and how to print."""
        parser.add_argument(
            "files",
            nargs="+",
            metavar="FILE",
            help="YAML, JSON or an archive of them; - reads standard input",
        )
        parser.add_argument("--pod", default="", metavar="NS/NAME", help="this pod alone, pending or not")
        parser.add_argument("-o", "--output", choices=("text", "json", "yaml"), default="text")
        parser.add_argument(
            "--config",
            default="",
            metavar="FILE",
            help="a KubeSchedulerConfiguration; without it kube's default",
        )
        parser.add_argument(
            "--fixes",
            type=int,
            default=10,
            metavar="N",
            help="search for fixes for at most so many pods (10); 0 for none. A search takes up to some seconds",
        )

    def handle(
        self, *args: Any, files: list[str], pod: str, output: str, config: str, fixes: int, **options: Any
    ) -> None:
        """Read, run, explain, print, and leave with the exit status."""
        gc.set_threshold(100_000, 20, 20)  # a large cluster is many objects that stay
        try:
            made = make_world(
                [(file, read_file(file)) for file in files], read_file(config) if config else b""
            )
        except BadInput as bad:
            raise CommandError(str(bad), returncode=BAD_INPUT) from None
        for note in made.notes:
            self.stderr.write(note)
        with Progress(sys.stderr) as progress:
            keys = attempt_all(made, lambda done, total: progress.part(done, total, "attempted"))
            answers = self._answers(made.world, keys, pod, fixes, progress)
        self._print(answers, output, pod)
        if any(map(is_pending, answers)):
            sys.exit(PENDING)

    def _answers(self, world: Any, keys: list[str], pod: str, fixes: int, progress: Progress) -> list[Answer]:
        if pod:
            found = answer(world, pod if "/" in pod else f"default/{pod}", fixes > 0)
            if found is None:
                raise CommandError(f"{pod}: there is no such pod in the input", returncode=BAD_INPUT)
            return [found]
        answers = []
        for number, key in enumerate(keys):
            found = answer(world, key, with_fixes=fixes > 0)
            if found is not None:
                answers.append(found)
                fixes -= is_pending(found)
            progress.part(number + 1, len(keys), "explained")
        return [*answers, *missing_pods(world, with_fixes=fixes > 0)]

    def _print(self, answers: list[Answer], output: str, pod: str) -> None:
        data = {"pods": answers}
        if output == "json":
            self.stdout.write(json.dumps(data, ensure_ascii=False, indent=2))
        elif output == "yaml":
            self.stdout.write(yaml.safe_dump(data, sort_keys=False, allow_unicode=True), ending="")
        else:
            self.stdout.write("\n".join(self._lines(answers, bool(pod))))

    def _lines(self, answers: list[Answer], one: bool) -> Iterator[str]:
        for each in answers:
            if one or is_pending(each):
                strong = self.style.ERROR if is_pending(each) else self.style.SUCCESS
                yield from lines(each, strong, self.style.HTTP_INFO)
                yield ""
        pending = sum(map(is_pending, answers))
        yield summary(pending, len(answers))
