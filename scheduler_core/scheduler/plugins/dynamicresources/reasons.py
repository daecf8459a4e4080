"""The reasons of DynamicResources. The first four are texts of apimachinery/dra/claims.py and pod_claims.py."""

from scheduler_core.apimachinery.dra.claims import KIND
from scheduler_core.scheduler.framework.reasons import Reason

NOT_CREATED = Reason("ClaimNotCreated", 'pod "<pod>": ResourceClaim not created yet', True)
NO_SOURCE = Reason(
    "ClaimWithoutSource", 'pod "<pod>", spec.resourceClaim "<entry>": none of the supported fields are set'
)
NOT_OWNED = Reason("ClaimOfAnother", "ResourceClaim <claim> was not created for pod <pod> (pod is not owner)", True)
NOT_FOUND = Reason("ClaimNotFound", f'could not find {KIND} "<claim>"', True)
DELETED = Reason("ClaimBeingDeleted", 'resourceclaim "<claim>" is being deleted', True)
ALLOCATING = Reason("ClaimBeingAllocated", "resource claim <claim> is in the process of being allocated", True)
UNKNOWN_TYPE = Reason("UnknownRequestType", "resource claim <claim>, request <request>: unknown request type")
NO_ALTERNATIVES = Reason(
    "AlternativesDisabled",
    "resource claim <claim>, request <request>: has subrequests, but the DRAPrioritizedList feature is disabled",
)
NO_CLASS = Reason("DeviceClassNotFound", "request <request>: device class <class> does not exist")

LEFT_OVER = Reason("ExtendedResourceClaimLeftOver", "cannot schedule extended resource claim")
CANNOT_FIT = Reason("CannotFitResource", "cannot fit resource")
CANNOT_ALLOCATE = Reason("CannotAllocate", "cannot allocate all claims")
NOT_AVAILABLE = Reason("ClaimOutOfReach", "resourceclaim not available on the node")
INVALID_POOLS = Reason("InvalidPools", "invalid resource pools were encountered")
TIMED_OUT = Reason("SearchTimedOut", "timed out trying to allocate devices")

DISABLED = Reason("Disabled", "plugin disabled")
NOTHING_TO_DEALLOCATE = Reason("NothingToDeallocate", "no new claims to deallocate")
DEALLOCATED = Reason("Deallocated", "deallocation of ResourceClaim completed")
LEFT_OVER_DELETED = Reason("LeftOverDeleted", "deletion of ResourceClaim completed")
STILL_NOT = Reason("StillNotSchedulable", "still not schedulable")

REASONS = tuple(each for each in list(vars().values()) if isinstance(each, Reason))
