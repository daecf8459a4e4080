"""NamespaceLifecycle: nothing is made in a namespace that is not there or is going, and kube's own namespaces stay.

kube: apiserver/pkg/admission/plugin/namespace/lifecycle/admission.go @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.admission.plugin import AdmissionPlugin, Request
from scheduler_core.apiserver.status import Refused, forbidden, not_found

IMMORTAL = ("default", "kube-system", "kube-public")


class NamespaceLifecycle(AdmissionPlugin):
    name = "NamespaceLifecycle"
    pods_by_spec = True
    of_restored = True

    def admit(self, request: Request, manifest: Manifest) -> Manifest:
        if request.kind.key == "Namespace" or not request.namespace:
            return manifest
        namespace = request.store.get("Namespace", "", request.namespace)
        if namespace is None:
            raise Refused.because(not_found("namespaces", request.namespace), request.what)
        terminating = (namespace.get("status") or {}).get("phase") == "Terminating"
        if request.operation == "CREATE" and terminating:
            why = f"unable to create new content in namespace {request.namespace} because it is being terminated"
            cause = f"namespace {request.namespace} is being terminated"
            raise request.refuse(why, (cause,))
        return manifest

    def validate(self, request: Request, manifest: Manifest) -> None:
        if request.operation == "DELETE" and request.kind.key == "Namespace" and request.name in IMMORTAL:
            answer = forbidden("namespaces", request.name, "this namespace may not be deleted")
            raise Refused.because(answer, request.what)
