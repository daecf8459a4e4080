"""KubeletConfiguration: the modeled fields, with kube's defaults and error messages.

kube: pkg/kubelet/apis/config/{types.go,v1beta1/defaults.go,validation/validation.go} @ v1.34.1
"""

from scheduler_core.scheduler.config.kubelet.configuration import KubeletConfiguration, read_kubelet, without_effect
from scheduler_core.scheduler.config.kubelet.thresholds import Amount, Threshold

__all__ = ["Amount", "KubeletConfiguration", "Threshold", "read_kubelet", "without_effect"]
