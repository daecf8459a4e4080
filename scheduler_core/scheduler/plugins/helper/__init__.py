"""What several plugins share.

kube: plugins/helper @ v1.34.1
"""
