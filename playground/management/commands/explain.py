"""`python manage.py explain`: why pods of a cluster are not in the state that their owners want, and possible fixes."""

import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from typing import Any

from playground.management import explaining
from playground.management.terminal.cluster import Question
from playground.management.terminal.command import HELP, INPUT, Exit, TerminalCommand, add_options, leave
from playground.management.terminal.printing import FORMS, Progress, format_data, get_width, table, write_answer
from playground.management.terminal.world import FileWorld, attempt_all
from playground.presenters.why.reasons import describe_rest
from scheduler_core.analysis.explain import Past, explain_refused_pod
from scheduler_core.analysis.whatif import RestResult

HEADS = ("POD", "WHY", "FIRST FIX")
ROW = ("pod", "state", "sentence", "fix", "command")


class Command(TerminalCommand):
    """A command that builds a world of the input, attempts each pending pod once, and explains what is not as its owner wants."""

    help = (
        "Say why pods are Pending, missing, or stuck: one sentence, the evidence, and fixes that were tried on a copy. "
        f"{INPUT}Each pending pod is attempted once from this snapshot, in the order in which the scheduler would; where there is no pod "
        "at all, or none of a workload without a status, the controllers make those first. Pods that a kubelet refused, and pods that "
        f"failed, are explained as well. {HELP}"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "-o",
            "--output",
            choices=("table", "text", *FORMS),
            help="a table for several pods, and the full text for one, unless this says otherwise",
        )
        what = "this pod or workload, as it is, and all that would be typed for it; may be given several times"
        ends = "how long the search for a pod's fixes may compute (3); where it ends before all is tried, this is said"
        longer = "also prove fixes that take hours of the cluster's time, such as those that wait for controllers"
        add_options(
            parser,
            ("--pod", [], "NS/NAME|KIND/NS/NAME", what),
            ("--fixes", 10, "N", "search for fixes for at most so many pods (10); 0 for none"),
            ("--seconds", explaining.SECONDS, "S", ends),
            ("--longer", False, "", longer),
        )

    def handle(self, *args: Any, fixes: int, seconds: float, **options: Any) -> None:
        inputs, question = self.read(options)
        question.pods = options["pod"]
        made = self.make(inputs, options["config"], options["release"])
        with Progress(sys.stderr) as progress:
            keys, rest = attempt_all(made, progress)
            about = list(list_answers(made, keys, question, progress))
            asked = bool(question.names or question.pods)
            wrong = [each for each in about if each["problem"] or asked]
            last = explaining.last_of_owners(about)
            shown = [each for each in wrong if asked or not explaining.has_ended(each) or each["pod"] in last]
            output = options["output"] or ("table" if len(shown) > 1 else "text")
            search = Search(made, fixes, seconds, progress, asked, options["longer"])
            said = list(map(explaining.plain, describe_rest(rest)))
            if output == "text":
                about = self._write_texts(about, shown, search)
                self._write(progress, (*summarize(about, question), *said))
            elif output == "table":
                self._write(progress, (*tabulate(search, shown, get_width()), "", *summarize(about, question), *said))
            else:
                about = [search.add_fixes(each) for each in about]
                stuck = [loop.to_json() for loop in rest.loops]
                data = {"schema": "explain/v1", "release": made.release, "pods": about, "stuck": stuck}
                progress.clear()
                self.stdout.write(format_data(data, ROW, [make_row(each) for each in about], output), ending="")
                self.stderr.write("\n".join(said), ending="\n" if said else "")
        if made.refused:
            self.stderr.write(explaining.format_refused_error(made.refused))
        leave(list_exits(about, rest, made.refused))

    def _write_texts(
        self, about: list[explaining.Answer], shown: list[explaining.Answer], search: "Search"
    ) -> list[explaining.Answer]:
        """Write the answers in full: explanations at once, each fix when it is found."""
        answers, faint = [], self.style.HTTP_INFO
        for each in about:
            visible = any(each is other for other in shown)
            if visible:
                strong = self.style.ERROR if each["problem"] else self.style.SUCCESS
                self._write(search.progress, explaining.lines(each, strong, faint))
            each = search.add_fixes(each)
            if visible:
                self._write(search.progress, [*explaining.fix_lines(each, faint, whole=len(shown) == 1), ""])
            answers.append(each)
        return answers

    def _write(self, progress: Progress, texts: Iterable[str]) -> None:
        progress.clear()
        write_answer(self.stdout, {}, texts, "text")
        self.stdout.flush()


class Search:
    """The search for fixes for the first pending pods. `asked`: the user named objects; then each answer gets fixes."""

    def __init__(
        self, made: FileWorld, pods: int, seconds: float, progress: Progress, asked: bool, longer: bool = False
    ) -> None:
        self.made, self.progress, self._longer = made, progress, longer
        self._left, self._seconds, self._asked = pods, seconds, asked

    def add_fixes(self, answered: explaining.Answer) -> explaining.Answer:
        """Return the answer with its fixes."""
        if self._left <= 0 or not (self._asked or explaining.is_pending(answered)):
            return answered
        self._left -= 1
        refused = next((each for pod, _, each in self.made.refused_pods if pod == answered["pod"]), None)
        report, longer = self.progress.say, self._longer
        return explaining.with_fixes(self.made.world, answered, self._seconds, report, refused, longer=longer)


def list_answers(
    made: FileWorld, keys: list[str], question: Question, progress: Progress
) -> Iterator[explaining.Answer]:
    """Yield the answers about the named objects; without names, about each pending pod and all problems."""
    refused = {
        pod: explain_refused_pod(made.world, each, said)
        for pod, said, each in made.refused_pods
        if pod in question.pods or not (question.pods or question.names)
    }
    asked, question.pods = bool(question.pods), [each for each in question.pods if each not in refused]
    yield from (explaining.build_answer(each) for pod, each in refused.items() if question.covers(pod))
    past, named = Past(made.world), question.find_objects(made.world)
    if named or asked:
        for name in named:
            yield from explaining.answers_about(made.world, name, past)
        return
    for number, each in enumerate(explaining.problems(made.world, keys, past)):
        if question.covers(each["pod"]):
            yield each
        progress.part(min(number + 1, len(keys)), len(keys), "explained")


def tabulate(search: Search, shown: list[explaining.Answer], width: int | None) -> Iterator[str]:
    """Yield the lines of the table: pods that differ in their names alone are one row."""
    rows = []
    for alike in explaining.group_alike(search.made.world, shown):
        first = make_row(search.add_fixes(alike[0]))
        more = f" and {len(alike) - 1} like it" if len(alike) > 1 else ""
        rows.append((first["pod"] + more, first["sentence"], first["fix"]))
    yield from table(HEADS, rows, width)


def make_row(answered: explaining.Answer) -> dict[str, str]:
    fix = next(iter(answered["fixes"]), {"text": "", "command": ""})
    return dict(zip(ROW, (*(answered[name] for name in ROW[:3]), fix["text"], fix["command"]), strict=True))


def summarize(answers: list[explaining.Answer], question: Question) -> list[str]:
    """Return the last lines: the number of pending pods, and the namespace searched."""
    said = [explaining.summary(answers)]
    if question.namespace and not (question.everywhere or question.names or question.pods):
        said.append(f"Only the namespace {question.namespace} was looked at; -A looks at all.")
    return said


def list_exits(answers: list[explaining.Answer], rest: RestResult, refused: int) -> Iterator[Exit]:
    """Yield the exit statuses of all problems found."""
    if not rest or any(explaining.has_ended(each) or explaining.is_stuck(each) for each in answers):
        yield Exit.FAILED
    if refused:
        yield Exit.UNUSABLE
    if any(map(explaining.is_pending, answers)):
        yield Exit.WAITS
