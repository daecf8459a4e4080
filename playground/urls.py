"""Which view answers which URL. `key` is a session's edit key or view key."""

from django.urls import path

from playground.consumers import SessionConsumer
from playground.views import (
    branches,
    build,
    configuration,
    conformance,
    exports,
    fixes,
    home,
    imports,
    objects,
    session,
    sharing,
    story,
)

urlpatterns = [
    path("", home.home, name="home"),
    path("new", home.new, name="new"),
    path("import-trace", exports.import_trace, name="import-trace"),
    path("conformance", conformance.conformance, name="conformance"),
    path("healthz", session.healthz, name="healthz"),
    path("s/<str:key>/", session.studio, name="studio"),
    path("s/<str:key>/panel/<str:name>", session.panel, name="panel"),
    path("s/<str:key>/fixes", fixes.fixes, name="fixes"),
    path("s/<str:key>/fixes/apply", fixes.apply_fix, name="apply-fix"),
    path("s/<str:key>/nodes.json", session.nodes, name="nodes"),
    path("s/<str:key>/step", session.step, name="step"),
    path("s/<str:key>/back", session.back, name="back"),
    path("s/<str:key>/goto", session.goto, name="goto"),
    path("s/<str:key>/play", session.play, name="play"),
    path("s/<str:key>/run", session.run, name="run"),
    path("s/<str:key>/pause", session.pause, name="pause"),
    path("s/<str:key>/permit", session.permit, name="permit"),
    path("s/<str:key>/undo", session.undo, name="undo"),
    path("s/<str:key>/redo", session.redo, name="redo"),
    path("s/<str:key>/rename", session.rename, name="rename"),
    path("s/<str:key>/branches", branches.branches, name="branches"),
    path("s/<str:key>/duplicate", session.duplicate, name="duplicate"),
    path("s/<str:key>/fork", session.fork, name="fork"),
    path("s/<str:key>/delete", session.delete, name="delete"),
    path("s/<str:key>/export.jsonl", exports.trace, name="export"),
    path("s/<str:key>/cluster.yaml", exports.cluster, name="cluster"),
    path("s/<str:key>/build/", build.build, {"what": "nodes"}, name="build"),
    path("s/<str:key>/build/nodes", build.build, {"what": "nodes"}, name="build-nodes"),
    path("s/<str:key>/build/pods", build.build, {"what": "pods"}, name="build-pods"),
    path("s/<str:key>/build/nodes/preview", build.preview, {"what": "nodes"}, name="preview-nodes"),
    path("s/<str:key>/build/pods/preview", build.preview, {"what": "pods"}, name="preview-pods"),
    path("s/<str:key>/objects", objects.objects, name="objects"),
    path("s/<str:key>/objects/delete", objects.delete_object, name="delete-object"),
    path("s/<str:key>/yaml", objects.edit_yaml, name="yaml"),
    path("s/<str:key>/configuration", configuration.configuration, name="configuration"),
    path("s/<str:key>/settings", configuration.settings, name="settings"),
    path("s/<str:key>/import", imports.import_page, name="import"),
    path("s/<str:key>/import/apply", imports.import_apply, name="import-apply"),
    path("s/<str:key>/session", sharing.sharing, name="session"),
    path("s/<str:key>/story/<int:chapter>", story.story_act, name="story"),
]
websocket_urlpatterns = [path("ws/s/<str:key>/", SessionConsumer.as_asgi())]
handler404 = "playground.views.doors.not_found"
