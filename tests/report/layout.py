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
    boxes = [ax.get_tightbbox() for ax in figure.get_axes() if not ax.get_ylabel().startswith("Level (")]
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


def words_of(figure: Figure) -> list[Text]:
    """Every text that a figure shows, tick labels within their axis among them."""
    shown = [text for part in (figure, *figure.subfigs) for text in part.texts]
    shown += [text for legend in legends(figure) for text in (legend.get_title(), *legend.get_texts())]
    for ax in figure.get_axes():
        shown += [child for child in ax.get_children() if isinstance(child, Text)]
        for axis in (axis for axis in (ax.xaxis, ax.yaxis) if axis.get_visible()):
            low, high = sorted(axis.get_view_interval())
            places = {minor: axis.get_majorticklocs() if not minor else axis.get_minorticklocs() for minor in (0, 1)}
            within = [
                label
                for minor, at in places.items()
                for place, label in zip(at, axis.get_ticklabels(minor=bool(minor)), strict=False)
                if low <= place <= high
            ]
            shown += [axis.label, axis.get_offset_text(), *within]
    return [text for text in shown if text.get_visible() and text.get_text().strip()]


def words_lie_apart_within_the_figure(name: str, figure: Figure) -> None:
    figure.draw_without_rendering()  # which puts the words of legends in their places
    boxes = [(text.get_text(), text.get_window_extent()) for text in words_of(figure)]
    for words, box in boxes:
        inside = box.x0 >= -1, box.y0 >= -1, box.x1 <= figure.bbox.width + 1, box.y1 <= figure.bbox.height + 1
        assert all(inside), (name, words)
    for (one_words, one), (other_words, other) in combinations(boxes, 2):
        overlap = min(one.x1, other.x1) - max(one.x0, other.x0), min(one.y1, other.y1) - max(one.y0, other.y0)
        assert min(overlap) <= 1, (name, one_words, other_words)


def ticks_are_few_and_plain(name: str, figure: Figure) -> None:
    for ax in figure.get_axes():
        for axis in (ax.xaxis, ax.yaxis):
            assert not axis.get_offset_text().get_text(), name
            low, high = sorted(axis.get_view_interval())
            assert sum(low <= place <= high for place in axis.get_majorticklocs()) <= 13, name
