"""The pages of experiments: the file, the progress of its runs, the results, and the first difference of two variants."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from playground.features.experiments.presenter import present
from playground.features.experiments.query import FILE, AskProposal, FindParting, MakeRun, Parting, ReadExperiment
from playground.sessions.database import log
from playground.sessions.database.asking import in_thread
from playground.sessions.protocol.errors import LimitReached, SessionError
from playground.sessions.web.client import SessionClient
from playground.sessions.web.jobs.registry import Job
from playground.sessions.web.jobs.reruns import EXPERIMENT, Batch
from playground.views.access import author, creator, opens
from playground.views.responses import describe_session, go, position, reject_form, whole_number, workbench
from scheduler_core.analysis.experiments import Experiment, Run, list_runs
from scheduler_core.formats.export import write_csv

MOST_RUNS = 200
MOST_TEXT = 200_000  # letters of the file
PATIENCE = 1.5


@opens("GET", "POST")
async def experiments(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """GET: show the file that is proposed for the step `at`. POST: start its runs and redirect to their page."""
    typed, asked = request.POST.get("file", "")[:MOST_TEXT], AskProposal(at=position(request))
    proposal = await client.ask(asked)
    jobs = await client.experiments_of(author(request))
    context = {"typed": typed or proposal["text"], "world": proposal, "jobs": jobs, "most": MOST_RUNS, "file": FILE}
    if request.method != "POST":
        return workbench(request, client, "experiments/page", context)
    try:
        experiment = await client.check(ReadExperiment(text=typed))
        require_small(experiment)
        folder = await _write_files(client, position(request))
        runs = list_runs(experiment, folder.name)
        batch = Batch([MakeRun(run=run) for run in runs], folder, about=experiment)
        job = await client.begin_experiment(batch, author(request), PATIENCE)
    except SessionError as error:
        return reject_form(request, client, "experiments/page", error, {**context, "refusal": error})
    return go(request, reverse("experiment", args=[client.key, job.token]))


def require_small(found: Experiment) -> None:
    """Raise LimitReached if an experiment is too large for the server."""
    runs = len(found.worlds) * len(found.all_variants) * found.seeds
    if runs > MOST_RUNS:
        raise LimitReached(
            _(
                "The experiment has %(runs)d runs. The limit on the server is %(most)d. Run it in a terminal, or use fewer seeds."
            )
            % {"runs": runs, "most": MOST_RUNS}
        )
    made = max(
        sum(group.count for group in world.pods) + sum(world.nodes.values()) + sum(variant.nodes.values())
        for world in found.worlds
        for variant in found.all_variants
    )
    if made > settings.MAX_OBJECTS:
        raise LimitReached(
            _("A world of the experiment has %(made)d objects. The limit is %(most)d.")
            % {"made": made, "most": settings.MAX_OBJECTS}
        )


async def _write_files(client: SessionClient, at: int | None) -> TemporaryDirectory[str]:
    """Write the session's objects to a folder that exists as long as the experiment."""
    folder = TemporaryDirectory(prefix="experiment-")
    with (Path(folder.name) / FILE).open("wb") as file:
        async for part in client.cluster(at):
            file.write(part)
    return folder


@opens("GET", "POST")
async def experiment(request: HttpRequest, client: SessionClient, token: str) -> HttpResponse:
    """GET: show progress, then the results; `form=csv` returns the table. POST: `stop`, or compare the variants `a` and `b` for a `seed`
    (`part`).
    """
    job = await client.find_job(EXPERIMENT, token)
    batch = job.result or Batch(())
    if request.method == "POST" and "stop" in request.POST:
        await client.stop_job(EXPERIMENT, token)
        return HttpResponseRedirect(request.path)
    if request.method == "POST":
        return await _part(request, client, batch)
    if not isinstance(batch.about, Experiment):
        context: dict[str, Any] = {"runs": batch.about, "found": None}
        if not job.going and job.error is None and batch.answers and batch.answers[0] is not None:
            found, keys = batch.answers[0]
            context["found"] = found
            context["sides"] = [
                {"name": run.variant.name, "key": key, "pod": pod, "node": node, "outcome": outcome, "at": at}
                for run, key, pod, node, outcome, at in zip(
                    batch.about, keys, found.pods, found.nodes, found.outcomes, found.at, strict=True
                )
            ]
        return _render(request, client, "parting", job, batch, context)
    if request.GET.get("form") == "csv":
        rows = batch.answers
        headers = {"Content-Disposition": 'attachment; filename="results.csv"'}
        return HttpResponse(write_csv(rows), content_type="text/csv; charset=utf-8", headers=headers)
    context = {"worlds": present(batch.answers, _), "most_seed": batch.about.seeds - 1}
    return _render(request, client, "results", job, batch, context)


def _render(
    request: HttpRequest, client: SessionClient, name: str, job: Job[Batch], batch: Batch, more: Mapping[str, Any]
) -> HttpResponse:
    context: dict[str, Any] = {"work": job, "done": len(batch.answers), "total": len(batch.requests)}
    context |= {"minutes": batch.left / 60, "seconds": batch.left, **more}
    context |= describe_session(request, client)
    return render(request, f"experiments/{name}.html", context, status=202 if job.going else 200)


async def _part(request: HttpRequest, client: SessionClient, batch: Batch) -> HttpResponse:
    """Start the search for the first attempt that two variants decide differently. Sessions of both are created there."""
    if not isinstance(batch.about, Experiment) or batch.folder is None:
        raise SessionError(_("This experiment has no variants to compare."))
    world, seed = request.POST.get("world", ""), whole_number(request.POST.get("seed", ""), 4)
    runs = {(run.world.name, run.variant.name, run.seed): run for run in list_runs(batch.about, batch.folder.name)}
    named = [request.POST.get(side, "") for side in "ab"]
    try:
        first, other = (runs[world, name, -1 if seed is None else seed] for name in named)
    except KeyError:
        raise SessionError(_("Choose two variants and a seed of this experiment.")) from None
    made_by = creator(request)

    async def finish(answers: list[Parting | None]) -> Any:
        return (
            None
            if answers[0] is None
            else (answers[0], await _make_sessions(client, answers[0], (first, other), made_by))
        )

    asked = Batch([FindParting(first=first, other=other)], batch.folder, about=(first, other), finish=finish)
    job = await client.begin_experiment(asked, author(request), PATIENCE)
    return HttpResponseRedirect(reverse("experiment", args=[client.key, job.token]))


async def _make_sessions(client: SessionClient, found: Parting, runs: tuple[Run, Run], made_by: str) -> list[str]:
    """Create a session for each run. Return their keys."""
    names = [f"{client.session.name[:60]}: {run.variant.name}, {run.seed}"[:120] for run in runs]
    return [
        (await in_thread(log.restore, name, made_by, side)).edit_key
        for name, side in zip(names, found.logs, strict=True)
    ]
