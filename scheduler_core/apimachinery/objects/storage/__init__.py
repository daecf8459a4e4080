"""Claims, volumes and storage classes as the volume plugins and the volume controllers read them.

kube: component-helpers/storage, csi-translation-lib @ v1.34.1
"""
