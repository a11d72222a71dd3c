"""What must hold of the layout of every figure; a test gives the name of the figure that it looks at."""

from __future__ import annotations

from itertools import combinations, pairwise

from matplotlib.figure import Figure
from matplotlib.text import Text

from reservoir.report.figures.style import FOOT


def foot_of(figure: Figure) -> Text:
    (foot,) = figure.findobj(match=lambda artist: artist.get_gid() == FOOT)
    return foot


def legends(figure: Figure) -> list:
    return [legend for part in figure.subfigs for legend in part.legends]


def nothing_overlaps_the_foot(name: str, figure: Figure) -> None:
    top = foot_of(figure).get_window_extent().y1
    for artist in (*figure.get_axes(), *legends(figure)):
        assert artist.get_tightbbox().y0 >= top, name


def axes_and_legends_lie_apart_within_the_figure(name: str, figure: Figure) -> None:
    boxes = [ax.get_tightbbox() for ax in figure.get_axes() if ax.get_ylabel() != "Level (m)"]
    boxes += [legend.get_tightbbox() for legend in legends(figure)]
    for box in boxes:
        assert box.x0 >= 0, name
        assert box.x1 <= figure.bbox.width + 1, name
        assert box.y1 <= figure.bbox.height + 1, name
    for one, other in combinations(boxes, 2):
        overlap = min(one.x1, other.x1) - max(one.x0, other.x0), min(one.y1, other.y1) - max(one.y0, other.y0)
        assert min(overlap) <= 1, name


def tick_labels_lie_apart(name: str, figure: Figure) -> None:
    for ax in figure.get_axes():
        for axis, start, end in ((ax.xaxis, 0, 2), (ax.yaxis, 1, 3)):
            for minor in (False, True):
                shown = [
                    label for label in axis.get_ticklabels(minor=minor) if label.get_text() and label.get_visible()
                ]
                boxes = sorted((label.get_window_extent().extents for label in shown), key=lambda box: box[start])
                for one, other in pairwise(boxes):
                    assert one[end] <= other[start], (name, shown)
