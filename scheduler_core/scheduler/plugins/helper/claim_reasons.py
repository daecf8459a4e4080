"""What several plugins say of a pod's claim."""

from __future__ import annotations

from scheduler_core.apimachinery.objects.storage.volumes import claim_not_found
from scheduler_core.scheduler.framework.reasons import Reason

CLAIM_NOT_FOUND = Reason("ClaimNotFound", claim_not_found("<claim>"), waits_for_claim=True)
