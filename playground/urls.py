"""Which view answers which URL. `key` is a session's edit key or view key."""

from django.urls import path
from django.views.i18n import set_language

from playground.classroom.consumers import StudentConsumer, TeacherConsumer
from playground.consumers import SessionConsumer
from playground.features.breakpoints import views as breakpoints
from playground.features.cluster import views as cluster
from playground.features.comparison import views as compare
from playground.features.configuration import views as configuration
from playground.features.device_search import views as devices
from playground.features.diff import views as diff
from playground.features.exports import choosing, downloads
from playground.features.exports import views as exports
from playground.features.fixes import views as fixes
from playground.features.fixes import why_not_views as why_not
from playground.features.journey import views as journey
from playground.features.lockstep import views as lockstep
from playground.features.metrics import views as metrics
from playground.features.records import views as records
from playground.features.sequence import views as sequence
from playground.features.statistics import views as statistics
from playground.views import (
    branches,
    commands,
    conformance,
    embed,
    home,
    operator,
    overview,
    session,
    sharing,
    sheets,
    story,
    terms,
)
from playground.views import timeline as lanes
from playground.views.classroom import desk, joining
from playground.views.lessons import editing, making, taking, variants
from playground.views.workbench import (
    acting,
    build,
    calls,
    components,
    extenders,
    imports,
    menu,
    objects,
    plugins,
    weights,
)

urlpatterns = [
    path("", home.home, name="home"),
    path("new", home.new, name="new"),
    path("variant", variants.new_variant, name="new-variant"),
    path("lesson/", making.own_lessons, name="own-lessons"),
    path("lesson/new", making.new_lesson, name="new-lesson"),
    path("lesson/<str:key>/", taking.own_lesson, name="own-lesson"),
    path("lesson/<str:key>/variant", variants.own_variant, name="own-variant"),
    path("lesson/<str:key>/edit", editing.edit, name="edit-lesson"),
    path("lesson/<str:key>/files", editing.files, name="lesson-files"),
    path("lesson/<str:key>/lesson.zip", editing.download, name="lesson-zip"),
    path("lesson/<str:key>/delete", editing.delete, name="delete-lesson"),
    path("language", set_language, name="language"),
    path("import-trace", exports.import_trace, name="import-trace"),
    path("trace.schema.json", downloads.schema, name="trace-schema"),
    path("conformance", conformance.conformance, name="conformance"),
    path("terms", terms.terms, name="terms"),
    path("terms.json", terms.terms_json, name="terms-json"),
    path("favicon.ico", home.favicon, name="favicon"),
    path("styles/<slug:digest>/<slug:name>.css", sheets.styles, name="styles"),
    path("healthz", operator.healthz, name="healthz"),
    path("metrics", operator.metrics, name="server-metrics"),
    path("status", operator.status, name="server-status"),
    path("s/<str:key>/room", desk.open_room, name="open-room"),
    path("room/<str:key>/", desk.desk, name="room"),
    path("room/<str:key>/end", desk.end, name="room-end"),
    path("room/<str:key>/delete", desk.delete, name="room-delete"),
    path("room/<str:key>/results.csv", desk.results, name="room-results"),
    path("join/", joining.join, name="join"),
    path("join/<str:code>/", joining.room, name="join-room"),
    path("join/<str:code>/qr.svg", joining.qr, name="room-qr"),
    path("s/<str:key>/", session.studio, name="studio"),
    path("embed/<str:key>/", embed.embed, name="embed"),
    path("embed/<str:key>/<path:page>", embed.beyond, name="embed-beyond"),
    path("s/<str:key>/panel/<str:name>", session.panel, name="panel"),
    path("s/<str:key>/fixes", fixes.fixes, name="fixes"),
    path("s/<str:key>/why", why_not.why, name="why"),
    path("s/<str:key>/fixes/apply", fixes.apply_fix, name="apply-fix"),
    path("s/<str:key>/journey/<str:namespace>/<str:name>.txt", journey.journey_text, name="journey-text"),
    path("s/<str:key>/journey/<str:namespace>/<str:name>", journey.journey_page, name="journey"),
    path("s/<str:key>/cycle-state", journey.cycle_state, name="cycle-state"),
    path("s/<str:key>/sequence", sequence.sequence, name="sequence"),
    path("s/<str:key>/timeline", lanes.timeline, name="timeline"),
    path("s/<str:key>/cluster", cluster.cluster, name="cluster"),
    path("s/<str:key>/device-search", devices.device_search, name="device-search"),
    path("s/<str:key>/metrics", metrics.metrics, name="metrics"),
    path("s/<str:key>/metrics/<slug:chart>.csv", metrics.metrics_csv, name="metrics-csv"),
    path("s/<str:key>/statistics", statistics.statistics, name="statistics"),
    path("s/<str:key>/statistics/<slug:chart>.csv", statistics.statistics_csv, name="statistics-csv"),
    path("s/<str:key>/metrics.txt", metrics.metrics_text, name="metrics-text"),
    path("s/<str:key>/nodes.json", session.nodes, name="nodes"),
    path("s/<str:key>/names.json", overview.names, name="names"),
    path("s/<str:key>/ends.json", overview.ends, name="ends"),
    path("s/<str:key>/step", session.step, name="step"),
    path("s/<str:key>/back", session.back, name="back"),
    path("s/<str:key>/goto", session.goto, name="goto"),
    path("s/<str:key>/play", session.play, name="play"),
    path("s/<str:key>/run", session.run, name="run"),
    path("s/<str:key>/search", breakpoints.search, name="search"),
    path("s/<str:key>/marks", breakpoints.marks, name="marks"),
    path("s/<str:key>/breakpoints", breakpoints.breakpoints, name="breakpoints"),
    path("s/<str:key>/breakpoints/<int:number>", breakpoints.breakpoint_, name="breakpoint"),
    path("s/<str:key>/bookmarks", breakpoints.bookmarks, name="bookmarks"),
    path("s/<str:key>/bookmarks/<int:number>", breakpoints.bookmark, name="bookmark"),
    path("s/<str:key>/records", records.records, name="records"),
    path("s/<str:key>/diff", diff.diff, name="diff"),
    path("s/<str:key>/pause", session.pause, name="pause"),
    path("s/<str:key>/permit", session.permit, name="permit"),
    path("s/<str:key>/undo", session.undo, name="undo"),
    path("s/<str:key>/redo", session.redo, name="redo"),
    path("s/<str:key>/differs", session.differs, name="differs"),
    path("s/<str:key>/rename", session.rename, name="rename"),
    path("s/<str:key>/compare", compare.compare, name="compare"),
    path("s/<str:key>/lockstep", lockstep.lockstep, name="lockstep"),
    path("s/<str:key>/lockstep/go-on", lockstep.go_on, name="lockstep-go-on"),
    path("s/<str:key>/branches", branches.branches, name="branches"),
    path("s/<str:key>/commands", commands.commands, name="commands"),
    path("s/<str:key>/rerun", commands.rerun, name="rerun"),
    path("s/<str:key>/rerun/<str:token>", commands.rerun_result, name="rerun-result"),
    path("s/<str:key>/duplicate", session.duplicate, name="duplicate"),
    path("s/<str:key>/fork", session.fork, name="fork"),
    path("s/<str:key>/fork-this", session.ask_fork, name="ask-fork"),
    path("s/<str:key>/weights", weights.fork_weights, name="fork-weights"),
    path("s/<str:key>/delete", session.delete, name="delete"),
    path("s/<str:key>/exports", choosing.exports, name="exports"),
    path("s/<str:key>/export.jsonl", exports.trace, name="export"),
    path("s/<str:key>/replay.html", downloads.replay, name="replay"),
    path("s/<str:key>/chrome.json", downloads.of_history, {"form": "chrome"}, name="export-chrome"),
    path("s/<str:key>/otlp.json", downloads.of_history, {"form": "otlp"}, name="export-otlp"),
    path("s/<str:key>/table.csv", downloads.of_history, {"form": "csv"}, name="export-table"),
    path("s/<str:key>/tables.zip", downloads.of_history, {"form": "zip"}, name="export-tables"),
    path("s/<str:key>/download/<str:token>", downloads.show_download, name="download"),
    path("s/<str:key>/cluster.yaml", exports.cluster, name="cluster-yaml"),
    path("s/<str:key>/build/", build.build, {"what": "nodes"}, name="build"),
    path("s/<str:key>/build/nodes", build.build, {"what": "nodes"}, name="build-nodes"),
    path("s/<str:key>/build/pods", build.build, {"what": "pods"}, name="build-pods"),
    path("s/<str:key>/build/nodes/preview", build.preview, {"what": "nodes"}, name="preview-nodes"),
    path("s/<str:key>/build/pods/preview", build.preview, {"what": "pods"}, name="preview-pods"),
    path("s/<str:key>/build/devices", build.build, {"what": "devices"}, name="build-devices"),
    path("s/<str:key>/build/claims", build.build, {"what": "claims"}, name="build-claims"),
    path("s/<str:key>/build/devices/preview", build.preview, {"what": "devices"}, name="preview-devices"),
    path("s/<str:key>/build/claims/preview", build.preview, {"what": "claims"}, name="preview-claims"),
    path("s/<str:key>/objects", objects.objects, name="objects"),
    path("s/<str:key>/objects/delete", objects.delete_object, name="delete-object"),
    path("s/<str:key>/yaml", objects.edit_yaml, name="yaml"),
    path("s/<str:key>/configuration", configuration.configuration, name="configuration"),
    path("s/<str:key>/settings", configuration.settings, name="settings"),
    path("s/<str:key>/gates", configuration.gates, name="gates"),
    path("s/<str:key>/plugins", plugins.plugins, name="plugins"),
    path("s/<str:key>/components", components.components, name="components"),
    path("s/<str:key>/calls", calls.calls, name="calls"),
    path("s/<str:key>/extenders", extenders.extenders, name="extenders"),
    path("s/<str:key>/act/<str:name>", acting.act, name="act"),
    path("s/<str:key>/menu", menu.show, name="menu"),
    path("s/<str:key>/import", imports.import_page, name="import"),
    path("s/<str:key>/import/apply", imports.import_apply, name="import-apply"),
    path("s/<str:key>/importing/<str:token>", imports.importing, name="importing"),
    path("s/<str:key>/importing/<str:token>/cancel", imports.import_cancel, name="import-cancel"),
    path("s/<str:key>/session", sharing.sharing, name="session"),
    path("s/<str:key>/links", sharing.view_links, name="view-links"),
    path("s/<str:key>/story/<int:chapter>", story.story_act, name="story"),
    path("s/<str:key>/lesson/<int:chapter>", story.lesson_answer, name="lesson-answer"),
    path("s/<str:key>/make-lesson", making.from_session, name="make-lesson"),
    path("s/<str:key>/lesson/task", story.lesson_task, name="lesson-task"),
    path("s/<str:key>/lesson/variant", variants.another_variant, name="another-variant"),
]
websocket_urlpatterns = [
    path("ws/s/<str:key>/", SessionConsumer.as_asgi()),
    path("ws/room/<str:key>/", TeacherConsumer.as_asgi()),
    path("ws/join/<str:code>/", StudentConsumer.as_asgi()),
]
handler400 = "playground.views.responses.not_understood"
handler404 = "playground.views.responses.not_found"
handler500 = "playground.views.responses.report_failure"
