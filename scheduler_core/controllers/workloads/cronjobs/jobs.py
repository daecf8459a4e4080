"""The Jobs of a CronJob: active ones, creation, and deletion.

kube: pkg/controller/cronjob/{cronjob_controllerv2,utils}.go @ v1.34.1
"""

from datetime import datetime
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.times import SECOND, format_time, parse_time
from scheduler_core.apiserver import NORMAL, WARNING, Answer, Refused
from scheduler_core.base.clock.cron import zone_of
from scheduler_core.controllers.contract import Controller, World
from scheduler_core.controllers.workloads.jobs.finish import is_finished
from scheduler_core.controllers.workloads.owners import Owner
from scheduler_core.controllers.workloads.pods import Work

SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"


class Jobs(Work):
    """The state of one sync: the Jobs that a CronJob controls, and its list of active Jobs."""

    def __init__(self, controller: Controller, world: World, owner: Owner) -> None:
        super().__init__(controller, world, owner)
        self.active: list[Manifest] = list(owner.status.get("active") or ())
        self.last_success = owner.status.get("lastSuccessfulTime")
        found = (world.store.get("Job", *key) for key in world.store.controlled("Job", owner.uid))
        self.all = [job for job in found if job is not None]

    def clean_up(self) -> None:
        """Delete the oldest Jobs beyond the history limits."""
        for type_, field in (("Complete", "successfulJobsHistoryLimit"), ("Failed", "failedJobsHistoryLimit")):
            limit = self.spec.get(field)
            ended = [job for job in self.all if (is_finished(job) or {}).get("type") == type_]
            ended.sort(key=_get_start_order)
            for job in ended[: max(0, len(ended) - limit)] if limit is not None else ():
                self.delete(job, f"only {limit} {type_} Jobs are kept")
        self.all = [job for job in self.all if self._get(job["metadata"]) is not None]

    def delete(self, job: Manifest, why: str) -> bool:
        """Delete a Job with its pods. Return success."""
        meta = job["metadata"]
        try:
            self.world.api.delete(("Job", meta["namespace"], meta["name"]), propagation="Background")
        except Refused as refused:
            self.event(WARNING, "FailedDelete", f"Deleted job: {refused.answer.message}")
            return False
        self._drop(meta["uid"])
        self.event(NORMAL, "SuccessfulDelete", f"Deleted job {meta['name']}")
        self.said.append(f"deleted {meta['name']}: {why}")
        return True

    def note(self) -> None:
        """Remove ended and missing Jobs from the list of active ones."""
        known = {ref.get("uid") for ref in self.active}
        for job in self.all:
            meta, ending = job["metadata"], is_finished(job)
            if ending is None and meta["uid"] not in known:
                text = f"Saw a job that the controller did not create or forgot: {meta['name']}"
                self.event(WARNING, "UnexpectedJob", text)
            elif ending is not None:
                if meta["uid"] in known:
                    self._drop(meta["uid"])
                    text = f"Saw completed job: {meta['name']}, condition: {ending['type']}"
                    self.event(NORMAL, "SawCompletedJob", text)
                self._note_success(job)
        children = {job["metadata"]["uid"] for job in self.all}
        for ref in list(self.active):
            if ref.get("uid") not in children and self._get(ref) is None:
                self.event(NORMAL, "MissingJob", f"Active job went missing: {ref['name']}")
                self._drop(ref.get("uid"))

    def _note_success(self, job: Manifest) -> None:
        time = (job.get("status") or {}).get("completionTime")
        if time is None or (is_finished(job) or {}).get("type") != "Complete":
            return
        if self.last_success is None or parse_time(time) > parse_time(self.last_success):
            self.last_success = time

    def _drop(self, uid: str | None) -> None:
        self.active = [ref for ref in self.active if ref.get("uid") != uid]

    def _get(self, ref: Manifest) -> Manifest | None:
        return self.world.store.get("Job", ref.get("namespace") or self.owner.namespace, ref["name"])

    def is_active(self, at: int) -> bool:
        """Return whether the Job for a time (seconds since 1970) is active."""
        return any(ref.get("name") == self.name_at(at) for ref in self.active)

    def name_at(self, at: int) -> str:
        return f"{self.owner.name}-{at // 60}"

    def replace(self) -> None:
        """Delete all active Jobs. Raise Refused if a deletion fails."""
        for ref in list(self.active):
            job = self._get(ref)
            if job is None or not self.delete(job, "the next Job replaces it"):
                text = f"could not replace job {self.owner.namespace}/{ref['name']}"
                raise Refused.because(Answer("Conflict", text))

    def create(self, at: int) -> bool:
        """Create the Job of a scheduled time, and list it as active. Return False if a Job has its name already. Raise Refused."""
        manifest = self._job(at)
        name = manifest["metadata"]["name"]
        try:
            job = self.world.api.create(manifest)
        except Refused as refused:
            if refused.answer.reason != "AlreadyExists":
                self.event(WARNING, "FailedCreate", f"Error creating job: {refused.answer.message}")
                raise
            job = self._get(manifest["metadata"]) or manifest
            if not self.owner.owns(job) or self.is_active(at):
                return False
        else:
            self.event(NORMAL, "SuccessfulCreate", f"Created job {name}")
            self.said.append(f"created {name} for {format_time(at * SECOND)}")
        meta = job["metadata"]
        reference = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "name": name,
            "namespace": meta["namespace"],
            "resourceVersion": meta["resourceVersion"],
            "uid": meta["uid"],
        }
        self.active = [*self.active, reference]
        return True

    def _job(self, at: int) -> dict[str, Any]:
        template = self.spec.get("jobTemplate") or {}
        meta = template.get("metadata") or {}
        zone = self.spec.get("timeZone")
        time = format_time(at * SECOND)
        if zone:
            time = datetime.fromtimestamp(at, zone_of(zone)).isoformat().replace("+00:00", "Z")
        metadata: dict[str, Any] = {
            "name": self.name_at(at),
            "namespace": self.owner.namespace,
            "annotations": {**(meta.get("annotations") or {}), SCHEDULED: time},
            "ownerReferences": [self.owner.reference()],
        }
        if meta.get("labels"):
            metadata["labels"] = dict(meta["labels"])
        return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": template.get("spec") or {}}


def _get_start_order(job: Manifest) -> tuple[bool, str, str]:
    start = (job.get("status") or {}).get("startTime")
    return start is None, start or "", job["metadata"]["name"]
