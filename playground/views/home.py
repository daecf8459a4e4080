"""The first page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def home(request: HttpRequest) -> HttpResponse:
    """Where a visitor starts."""
    return render(request, "playground/home.html")
