"""VolumeBinding: finds, assumes, and binds volumes.

kube: plugins/volumebinding @ v1.34.1
"""
