"""PodTopologySpread: the room of the plugin that spreads pods over domains.

kube: plugins/podtopologyspread @ v1.34.1
"""
