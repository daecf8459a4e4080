"""`python manage.py explain FILE...`: why are the pods of a kubectl dump Pending, and what would help?"""

from __future__ import annotations

import gc
import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from typing import Any

import yaml
from django.core.management.base import CommandError

from playground.management.explaining import (
    SECONDS,
    Answer,
    answer,
    fix_lines,
    format_refused_error,
    has_ended,
    is_pending,
    last_of_owners,
    lines,
    missing_pods,
    plain,
    summary,
    with_fixes,
)
from playground.management.terminal.command import TerminalCommand
from playground.management.terminal.exits import HELP, Exit, leave
from playground.management.terminal.files import BadInput, read_file
from playground.management.terminal.pipes import may_close
from playground.management.terminal.progress import Progress
from playground.management.terminal.world import attempt_all, list_ended_pods, make_world
from playground.presenters.why.loops import describe_rest
from scheduler_core.analysis.explain import Past
from scheduler_core.analysis.whatif import Rest


class Command(TerminalCommand):
    """Makes a world of files, lets the pending pods be attempted once, and explains each."""

    help = (
        "Say why pods are Pending: one sentence, the evidence, and fixes that were tried on a copy. Reads what kubectl prints, as the "
        "import does (kubectl get nodes,pods,... -A -o yaml); - is standard input. Each pending pod is attempted once from this snapshot, "
        "in the order in which the scheduler would; where there is no pod at all, the controllers make those of the workloads first. "
        "Pods that a kubelet refused, and pods that failed, are explained as well. "
        f"No database is needed. {HELP}"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments for the input, the pod, and the output."""
        parser.add_argument(
            "files",
            nargs="+",
            metavar="FILE",
            help="YAML, JSON, an archive or a folder of them; - reads standard input",
        )
        parser.add_argument(
            "--pod",
            default="",
            metavar="NS/NAME",
            help="this pod alone, pending or not, and all that would be typed for it",
        )
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
            help="search for fixes for at most so many pods (10); 0 for none",
        )
        parser.add_argument(
            "--seconds",
            type=float,
            default=SECONDS,
            metavar="S",
            help="how long the search for a pod's fixes may compute (3); where it ends before all is tried, this is said",
        )

    @may_close()
    def handle(
        self,
        *args: Any,
        files: list[str],
        pod: str,
        output: str,
        config: str,
        fixes: int,
        seconds: float,
        **options: Any,
    ) -> None:
        """Read, run, explain, print, and leave with the exit status."""
        gc.set_threshold(100_000, 20, 20)  # a large cluster is many objects that stay
        try:
            made = make_world(
                [(file, read_file(file)) for file in files], read_file(config) if config else b""
            )
        except BadInput as bad:
            raise CommandError(str(bad), returncode=Exit.UNUSABLE) from None
        for note in made.notes:
            self.stderr.write(note)
        with Progress(sys.stderr) as progress:
            keys, rest = attempt_all(made, progress)
            about = list(self._about(made.world, keys, pod, progress))
            answers = self._printed(about, made.world, fixes, seconds, progress, output == "text", bool(pod))
            said = list(map(plain, describe_rest(rest)))
            self._write(progress, said if output == "text" else ())
        if output != "text":
            self._print(answers, rest, output)
            for text in said:
                self.stderr.write(text)
        if made.refused:
            self.stderr.write(format_refused_error(made.refused))
        leave(list_exits(answers, rest, made.refused))

    def _about(self, world: Any, keys: list[str], pod: str, progress: Progress) -> Iterator[Answer]:
        """Yield the explanation of each pod."""
        if pod:
            one = answer(world, pod if "/" in pod else f"default/{pod}")
            if one is None:
                raise CommandError(f"{pod}: there is no such pod in the input", returncode=Exit.UNUSABLE)
            yield one
            return
        past = Past(world)
        for number, key in enumerate(keys):
            if (each := answer(world, key, past)) is not None:
                yield each
            progress.part(number + 1, len(keys), "explained")
        ended = (answer(world, key, past) for key in list_ended_pods(world) if key not in keys)
        yield from (each for each in ended if each is not None and has_ended(each))
        yield from missing_pods(world)

    def _printed(
        self,
        about: list[Answer],
        world: Any,
        fixes: int,
        seconds: float,
        progress: Progress,
        text: bool,
        one: bool,
    ) -> list[Answer]:
        """Print the answers, with fixes for the first pods that wait: explanations at once, fixes as soon as they are found."""
        answers, last = [], last_of_owners(about)
        for each in about:
            waits = is_pending(each)
            shown = one or waits or each["pod"] in last
            strong = self.style.ERROR if waits or has_ended(each) else self.style.SUCCESS
            if text and shown:
                self._write(progress, lines(each, strong, self.style.HTTP_INFO))
            if (waits or one) and fixes > 0:
                fixes -= 1
                each = with_fixes(world, each, seconds, progress.say)
            if text and shown:
                self._write(progress, [*fix_lines(each, self.style.HTTP_INFO, whole=one), ""])
            answers.append(each)
        if text:
            pending, ended = sum(map(is_pending, answers)), sum(map(has_ended, answers))
            self._write(progress, [summary(pending, len(answers), ended)])
        return answers

    def _write(self, progress: Progress, texts: Iterable[str]) -> None:
        progress.clear()
        for text in texts:
            self.stdout.write(text or "\n", ending="\n" if text else "")
        self.stdout.flush()

    def _print(self, answers: list[Answer], rest: Rest, output: str) -> None:
        data = {"pods": answers, "stuck": [loop.to_json() for loop in rest.loops]}
        if output == "json":
            self.stdout.write(json.dumps(data, ensure_ascii=False, indent=2))
        else:
            self.stdout.write(yaml.safe_dump(data, sort_keys=False, allow_unicode=True), ending="")


def list_exits(answers: list[Answer], rest: Rest, refused: int) -> Iterator[Exit]:
    """Yield the exit statuses of all problems found."""
    if not rest or any(map(has_ended, answers)):
        yield Exit.FAILED
    if refused:
        yield Exit.UNUSABLE
    if any(map(is_pending, answers)):
        yield Exit.WAITS
