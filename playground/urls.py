"""Which view answers which URL."""

from django.urls import path

from playground.views import home

urlpatterns = [
    path("", home.home, name="home"),
]
