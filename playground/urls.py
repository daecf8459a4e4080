"""Which view answers which URL. `key` is a session's edit key or view key."""

from django.urls import path

from playground.consumers import SessionConsumer
from playground.views import home, session

urlpatterns = [
    path("", home.home, name="home"),
    path("new", home.new, name="new"),
    path("healthz", session.healthz, name="healthz"),
    path("s/<str:key>/", session.studio, name="studio"),
    path("s/<str:key>/panel/<str:name>", session.panel, name="panel"),
    path("s/<str:key>/nodes.json", session.nodes, name="nodes"),
    path("s/<str:key>/step", session.step, name="step"),
    path("s/<str:key>/back", session.back, name="back"),
    path("s/<str:key>/goto", session.goto, name="goto"),
    path("s/<str:key>/play", session.play, name="play"),
    path("s/<str:key>/run", session.run, name="run"),
    path("s/<str:key>/pause", session.pause, name="pause"),
    path("s/<str:key>/undo", session.undo, name="undo"),
    path("s/<str:key>/redo", session.redo, name="redo"),
    path("s/<str:key>/rename", session.rename, name="rename"),
    path("s/<str:key>/duplicate", session.duplicate, name="duplicate"),
    path("s/<str:key>/fork", session.fork, name="fork"),
    path("s/<str:key>/delete", session.delete, name="delete"),
]
websocket_urlpatterns = [path("ws/s/<str:key>/", SessionConsumer.as_asgi())]
