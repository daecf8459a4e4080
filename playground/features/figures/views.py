"""The pages of figures: the list, one figure, and one within another site's page."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from playground.features.figures.figures import draw
from playground.lessons import LANGUAGES, read_lessons
from playground.lessons.figures import Control, read_figures
from playground.lessons.reading import read_documents
from playground.sessions.protocol.errors import SessionError
from playground.views.responses import by_htmx, problem
from playground.views.sharing import allow_framing


@require_GET
def list_figures(request: HttpRequest) -> HttpResponse:
    """Show all figures, each with its picture at the first values."""
    language = translation.get_language()
    figures = [
        {"name": name, "figure": figure, "picture": draw(name, language)} for name, figure in read_figures().items()
    ]
    return render(request, "figures/list.html", {"figures": figures})


@require_GET
def show_figure(request: HttpRequest, name: str, framed: bool = False) -> HttpResponse:
    """Show one figure for the values of its controls. `framed`: for a page of another site. Scripts get only the picture."""
    figure = read_figures().get(name)
    if figure is None:
        raise Http404(name)
    if (language := request.GET.get("lang", "")) in LANGUAGES:
        translation.activate(language)
    try:
        values = [(control, _read(control, request)) for control in figure.controls]
    except SessionError as error:
        return problem(request, error)
    chosen = tuple((control.name, value) for control, value in values)
    context: dict[str, Any] = {
        "name": name,
        "figure": figure,
        "lang": language,
        "controls": [{"control": control, "value": value} for control, value in values],
        "picture": draw(name, translation.get_language(), chosen),
    }
    if by_htmx(request):
        return render(request, "figures/picture.html", context)
    if framed:
        return allow_framing(render(request, "figures/embed.html", context))
    context["sections"] = [
        {"document": document, "section": section}
        for document in read_documents()
        for section in document["sections"]
        if name in section.get("figures", ())
    ]
    context["lessons"] = [lesson for lesson in read_lessons() if any(card.figure == name for card in lesson.plan.cards)]
    context["address"] = request.build_absolute_uri("embed/")
    return render(request, "figures/page.html", context)


def _read(control: Control, request: HttpRequest) -> int | str:
    text = request.GET.get(control.name)
    try:
        return control.value if text is None else control.read(text)
    except ValueError as error:
        shown = {"name": control.name, "text": str(text)[:40], "expected": error}
        raise SessionError(_("“%(name)s” is “%(text)s”. Expected: %(expected)s.") % shown) from None
