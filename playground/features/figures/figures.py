"""The figures: the engine's results for the values of a figure's controls, as a picture."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from playground.features.figures.pictures import (
    BASE,
    LINE,
    LOWEST,
    Box,
    Cell,
    Column,
    Level,
    Mark,
    Picture,
    Scale,
    draw_curves,
    draw_ground,
    draw_lanes,
    draw_moment,
    make_cells,
    show_columns,
)
from playground.lessons.figures import Value, read_figures
from scheduler_core import Cluster, make_node
from scheduler_core.analysis.inspection import feasible_nodes_to_find
from scheduler_core.world.commands import PartitionScheduler
from scheduler_core.world.readonly import Evidence

SECOND, MI = 10**9, 2**20


@dataclass(frozen=True)
class Setting:
    """A figure with the values of its controls, its world, and its texts in one language."""

    values: dict[str, Any]
    cluster: Cluster
    words: Any

    def say(self, key: str, **known: object) -> str:
        return str(self.words[key].format(**known))

    def join(self, names: list[str]) -> str:
        return self.say("and").join(names)


def _show_skew(of: Setting) -> Picture:
    counts = {zone: sum(node == zone for node in of.cluster.pods.values()) for zone in of.cluster.nodes}
    refused, least, columns = of.cluster.schedule("next").refused, min(counts.values()), []
    for zone, pods in counts.items():
        word, look = ("refused", "no open") if zone in refused else ("next", "yes open")
        boxes = [Box(1, f"web-{zone[-1]}{n + 1}") for n in range(pods)]
        columns.append(Column([*boxes, Box(1, of.say(word), look)], zone, of.say("skew", n=pods + 1 - least)))
    allowed = of.join([zone for zone in counts if zone not in refused])
    caption = of.say("some", zones=allowed) if refused else of.say("all")
    limit = least + of.values["skew"]
    levels = [Level(limit, of.say("limit", n=limit), "limit"), Level(least, of.say("least", n=least), "quiet")]
    return show_columns(caption, columns, 5.4, levels, 82)


def _show_weights(of: Setting) -> Picture:
    scores = of.cluster.schedule("next").scores
    assert scores is not None
    raw, points = scores.raw["NodeAffinity"], scores.normalized["NodeAffinity"]
    columns = [
        Column([Box(points[node], look="yes" if points[node] == 100 else "")], f"{node}: {points[node]}", of.say(node))
        for node in of.cluster.nodes
    ]
    caption = of.say("best", a=raw["a"], b=raw["b"], sum=raw["c"], least=min(points["a"], points["b"]))
    return show_columns(caption, columns, 108, [Level(100, of.say("most"), "quiet")], 88)


def _show_taints(of: Setting) -> Picture:
    attempt, rows = of.cluster.schedule("next"), []
    points = attempt.scores.normalized["TaintToleration"] if attempt.scores else {}
    for each in of.cluster.world.store.list("Node"):
        node, taints = each["metadata"]["name"], each.get("spec", {}).get("taints", ())
        text = "".join(f"{taint['key']}={taint['value']}:{taint['effect']}" for taint in taints)
        verdict = Cell(of.say("refuse"), "no") if node in attempt.refused else Cell(of.say("pass"), "yes")
        rows.append([Cell(node), Cell(text or of.say("none"), "mono"), verdict, Cell(str(points.get(node, "–")))])
    return Picture(of.say("caption", n=len(rows) - len(attempt.refused)), rows)


def _show_allocation(of: Setting) -> Picture:
    kind, added = of.values["strategy"], of.values["cpu"]
    used = {each["metadata"]["name"]: each["metadata"]["labels"] for each in of.cluster.world.store.list("Node")}
    scores = of.cluster.schedule("next").scores
    assert scores is not None
    points = scores.raw["NodeResourcesBalancedAllocation" if kind == "BalancedAllocation" else "NodeResourcesFit"]
    best, columns, texts = max(points.values()), [], []
    for number, (node, labels) in enumerate(used.items()):
        for name, more in (("cpu", added), ("mem", 1)):
            columns.append(Column([Box(int(labels[name]), labels[name]), Box(more, f"+{more}", "now open")], name))
        text = of.say("points", node=node, n=points[node])
        look = "total yes" if points[node] == best else "total"
        texts.append(Mark("text", 100 * (number + 0.5) / 3, BASE, text=text, look=look, down=2 * LINE + 3))
    caption = of.say(kind, node=of.join([node for node in used if points[node] == best]))
    shown = show_columns(caption, columns, 8.4, [Level(8, of.say("capacity"), "limit")], 100)
    return shown._replace(marks=[*shown.marks, *texts], rows=[make_cells(node, points[node]) for node in used])


def _show_ratio(of: Setting) -> Picture:
    scores = of.cluster.schedule("next").scores
    assert scores is not None
    raw, scale = scores.raw["NodeResourcesFit"], Scale(100, 110)
    points = [(5.0 * (n + 1), float(raw[f"n{n}"])) for n in range(20)]
    marks = [*draw_curves(scale, [(points, "")], [Level(100, "100", "quiet", True), Level(50, "50", "quiet", True)])]
    marks += [
        *draw_ground(scale, (0, 50, 100), " %"),
        *(Mark("dot", scale.x(x), scale.y(y), look="small") for x, y in points),
    ]
    empty, full = of.values["empty"], of.values["full"]
    marks += [
        Mark("dot", scale.x(at), scale.y(10 * y), look="now", drags=name)
        for name, at, y in (("empty", 0, empty), ("full", 100, full))
    ]
    word = "pack" if full > empty else "spread" if full < empty else "flat"
    rows = [make_cells(f"{x:g} %", f"{y:g}") for x, y in points[3::4]]
    return Picture(of.say(word, low=f"{points[4][1]:g}", high=f"{points[14][1]:g}"), rows, marks)


def _show_sampling(of: Setting) -> Picture:
    nodes, percent = of.values["nodes"], of.values["percent"]
    found = {
        size: feasible_nodes_to_find(percent, size)
        for size in sorted({*range(10, 200, 10), *range(200, 5001, 50), nodes})
    }
    stop, least, scale = found[nodes], feasible_nodes_to_find(1, 100), Scale(5000, max(*found.values(), 600) * 1.1)
    every = [(0.0, 0.0), (min(5000, scale.high),) * 2]
    level = Level(least, of.say("least", n=least), "limit")
    marks = [*draw_curves(scale, [(every, "quiet"), ([*found.items()], "")], [level])]
    marks += [*draw_ground(scale, (0, 1000, 3000, 5000), ""), Mark("dot", scale.x(nodes), scale.y(stop), look="now")]
    marks.append(Mark("rise", scale.x(nodes), scale.y(stop), h=LOWEST - scale.y(stop), look="now"))
    side, away = ("end", -1.5) if nodes > 2500 else ("start", 1.5)
    marks.append(
        Mark("text", scale.x(nodes) + away, scale.y(stop), text=of.say("point", n=stop), look="now", side=side, down=18)
    )
    word = "every" if stop == nodes else "minimum" if stop == least else "part"
    rows = [make_cells(f"{size:,}", f"{found[size]:,}") for size in (50, 100, 200, 500, 1000, 2000, 5000)]
    return Picture(of.say(word, n=stop, nodes=nodes, share=f"{100 * stop / nodes:.0f}", least=least), rows, marks)


def _show_queues(of: Setting) -> Picture:
    of.cluster.schedule("web")
    if of.values["event"] == "NodeAdd":
        of.cluster.add(make_node("large"))
    of.cluster.schedule("web")
    shape = read_figures()["queues"].shape
    lane = [move for move in of.cluster.world.journal.lane("default/web") if move.place in shape["places"]]
    steps = [f">{lane[0].place}", *(f"{before.place}>{after.place}" for before, after in pairwise(lane))]
    now = min(of.values["step"], len(steps)) - 1
    looks = {**dict.fromkeys(steps[:now], "passed"), steps[now]: "now"}
    marks = [Mark("arrow", x, y, w, h, look=looks.get(step, "")) for step, (x, y, w, h) in shape["arrows"].items()]
    for place, (x, y, width) in shape["places"].items():
        look = "place now" if place == lane[now].place else "place"
        marks.append(Mark("box", x - width / 2, y - 8, width, 16, of.say(place), look))
    cause = lane[now].why[0] if lane[now].why else lane[now].cause
    rows = [make_cells(f"{each.t / SECOND:g} s", of.say(each.place), each.cause) for each in lane]
    return Picture(of.say(steps[now], t=f"{lane[now].t / SECOND:g}", cause=cause), rows, marks)


def _show_backoff(of: Setting) -> Picture:
    waits: list[int] = []
    of.cluster.schedule("next")
    journal, longest = of.cluster.world.journal, max(of.values["most"], of.values["first"])
    for number in range(1, 9):
        failed = journal.attempts[-1].ended
        of.cluster.add(make_node(f"n{number}").capacity(cpu="16").taint("new", "NoSchedule"))
        while len(journal.attempts) == number:
            of.cluster.world.advance()
        waits.append(round((max(move.until for move in journal.lane("default/next")) - failed) / SECOND))
    columns = [
        Column([Box(wait, f"{wait} s", "wait" if wait == longest else "")], str(n)) for n, wait in enumerate(waits, 1)
    ]
    reached = waits.index(longest) + 1 if longest in waits else 0
    caption = of.say("capped" if reached else "open", n=reached, most=longest, last=waits[-1])
    shown = show_columns(
        caption, columns, max(longest, 8) * 1.12, [Level(longest, of.say("most", n=longest), "limit")], 100
    )
    return shown._replace(
        marks=[*shown.marks, Mark("text", 50, BASE, text=of.say("axis"), look="below", down=2 * LINE)]
    )


_CRITERIA = ("budget", "highest", "sum", "count", "start")


def _show_victims(of: Setting) -> Picture:
    evidence: Evidence | None = None
    while not of.cluster.world.journal.attempts:
        of.cluster.world.advance()
        steps = cycle.steps if (cycle := of.cluster.world.schedulers[0].cycle) else ()
        evidence = evidence or next((each.evidence for each in steps if isinstance(each.evidence, Evidence)), None)
    assert evidence is not None
    known, used = {each.node: each for each in evidence.candidates}, {each.number: each for each in evidence.criteria}
    priorities = {node: [pod.priority for pod in each.victims] for node, each in sorted(known.items())}
    rows = [[Cell(of.say("victims")), *(Cell(", ".join(map(str, each)), "mono") for each in priorities.values())]]
    for number, name in enumerate(_CRITERIA):
        row = [Cell(f"{number + 1}. {of.say(name)}")]
        for node, each in priorities.items():
            values = (known[node].violations, each[0], sum(each), len(each), of.say("same"))
            compared = number in used and node in {candidate.node for candidate in used[number].compared}
            left = compared and node in used[number].left
            row.append(Cell(str(values[number]), "yes" if left else "no") if compared else Cell("–", "quiet"))
        rows.append(row)
    return Picture(
        of.say("caption", node=evidence.nominated, rule=of.say(_CRITERIA[evidence.criteria[-1].number])), rows
    )


def _show_gang(of: Setting) -> Picture:
    while not of.cluster.world.idle and of.cluster.now < SECOND // 2:
        of.cluster.world.advance()
    placed = {key.partition("/")[2]: node for key, node in of.cluster.pods.items()}
    columns = []
    for node in of.cluster.nodes:
        boxes = [Box(1, pod, "yes") for pod in placed if placed[pod] == node]
        columns.append(Column([*boxes, *[Box(1, of.say("free"), "open")] * (2 - len(boxes))], node))
    waiting = [pod for pod in placed if not placed[pod]]
    columns.append(Column([Box(1, pod, "wait") for pod in waiting], of.say("pending")))
    bound = len(placed) - len(waiting)
    word = "nothing" if not bound else "some" if waiting else "all"
    caption = of.say(word, quorum=of.values["quorum"], places=2 * len(of.cluster.nodes), n=bound)
    return show_columns(caption, columns, max(3, len(waiting)) + 0.4, [], 100)


def _show_thresholds(of: Setting) -> Picture:
    end = 180
    while of.cluster.now < end * SECOND and not of.cluster.world.idle:
        of.cluster.world.advance()
    surroundings, scale = of.cluster.world.surroundings, Scale(end, 2200)
    measured = surroundings.levels["Signals//node"]
    levels = [(each.t / SECOND, int(dict(each.figures)["memory.available"]) / MI) for each in measured]
    curve = [
        point for (t, high), (then, _) in pairwise([*levels, (end, 0)]) for point in ((t, high), (min(then, end), high))
    ]
    lines = [Level(1000, of.say("soft"), "wait", True), Level(400, of.say("hard"), "limit no", True)]
    marks = [*draw_curves(scale, [(curve, "")], lines), *draw_ground(scale, (0, 60, 120, 180), " s")]
    evictions = [each for each in surroundings.kubelet.evictions["node"] if each.t < end * SECOND]
    for number, each in enumerate(evictions):
        look = "no" if each.threshold == "400Mi" else "wait"
        marks += draw_moment(scale, each.t / SECOND, f"{each.chosen[-1]} ✕", look, 14 - 6 * (number % 2))
    rows = [make_cells(f"{each.t / SECOND:g} s", each.available, each.threshold, each.chosen[-1]) for each in evictions]
    word = "hardly" if evictions[0].threshold == "400Mi" else "regain" if of.values["reclaim"] else "softly"
    caption = of.say(word, t=f"{evictions[0].t / SECOND:g}", n=len(evictions), reclaim=of.values["reclaim"])
    return Picture(caption, rows, marks)


def _show_leases(of: Setting) -> Picture:
    end, cut, known, scale = 60, False, None, Scale(60, 1)
    world, renewed = of.cluster.world, {"steady": [], "fast": []}  # type: Any, dict[str, list[float]]
    while world.now < end * SECOND:
        if not cut and (cut := world.now >= 10 * SECOND):
            of.cluster.apply(PartitionScheduler("steady", partitioned=True, hang=SECOND // 10))
        world.advance()
        lease: dict[str, Any] = next((each["spec"] for each in world.store.list("Lease")), {})
        if lease.get("renewTime") != known:
            known = lease["renewTime"]
            renewed[lease["holderIdentity"].partition("_")[0]].append(world.now / SECOND)
    stops = [
        move.t / SECOND for move in world.journal.processes if move.scheduler == "steady" and move.state == "ended"
    ]
    stop, begin = next(iter(stops), end), next(iter(renewed["fast"]), end)
    segments = {
        "steady": [(renewed["steady"][0], stop, of.say("leads"), "yes")],
        "fast": [(begin, end, of.say("leads"), "yes")],
    }
    for each in segments.values() if begin < stop else ():
        each.append((begin, stop, "", "no"))
    lanes = [(of.say(name, rate=of.values["rate"]), segments[name], renewed[name]) for name in renewed]
    marks = [
        *draw_lanes(scale, lanes, draw_moment(scale, 10, of.say("cut"), "no", 7)),
        *draw_ground(scale, (0, 20, 40, 60), " s"),
    ]
    shown = {"over": f"{stop:.1f}", "takes": f"{begin:.1f}", "apart": f"{abs(stop - begin):.1f}"}
    rows = [make_cells(name, f"{parts[0][0]:.1f} s", f"{parts[0][1]:.1f} s") for name, parts in segments.items()]
    return Picture(of.say("overlap" if begin < stop else "gap", **shown), rows, marks)


FIGURES: dict[str, Callable[[Setting], Picture]] = {
    "skew": _show_skew,
    "weights": _show_weights,
    "taints": _show_taints,
    "allocation": _show_allocation,
    "ratio": _show_ratio,
    "sampling": _show_sampling,
    "queues": _show_queues,
    "backoff": _show_backoff,
    "victims": _show_victims,
    "gang": _show_gang,
    "thresholds": _show_thresholds,
    "leases": _show_leases,
}


@lru_cache(maxsize=1024)
def draw(name: str, language: str, values: tuple[tuple[str, Value], ...] = ()) -> Picture:
    """Return a figure's picture, computed once for each choice of its controls; without `values`, for the first ones."""
    figure, cluster = read_figures()[name], Cluster()
    chosen = {**{control.name: control.value for control in figure.controls}, **dict(values)}
    for command in figure.begin(chosen) if figure.world else ():
        cluster.apply(command)
    setting = Setting(chosen, cluster, figure.words.get(language, figure.words["en"]))
    return FIGURES[name](setting)._replace(heads=setting.say("heads").split("|"))
