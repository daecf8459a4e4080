"""Profiles as the corpus was made with them."""

from __future__ import annotations

from dataclasses import replace

from scheduler_core.scheduler.framework.profile import Profile


def with_all_candidates(profile: Profile) -> Profile:
    """The corpus shows the dry run of every potential node."""
    args = dict(profile.args)
    if "DefaultPreemption" in args:
        args["DefaultPreemption"] = {**args["DefaultPreemption"], "minCandidateNodesPercentage": 100}
    return replace(profile, args=args)
