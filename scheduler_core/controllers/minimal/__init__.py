"""The surroundings of worlds that were made before the cluster's components were modelled: pods start and end, claims get volumes.

Kept so that such worlds replay as they went.
"""
