"""What several plugins say of a pod's claim."""

from __future__ import annotations

from scheduler_core.framework.reasons import Reason
from scheduler_core.objects.storage.volumes import claim_not_found

CLAIM_NOT_FOUND = Reason("ClaimNotFound", claim_not_found("<claim>"), waits_for_claim=True)
