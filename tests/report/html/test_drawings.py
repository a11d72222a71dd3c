"""A drawing of this program becomes a part of a page: its shapes, under names of their own."""

import pytest

from reservoir.errors import InputError
from reservoir.report.html.page import inline_svg, read_pictures

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9"'
SHAPE = '<path id="a" d="M 0 0 L 9 9" style="fill: none; stroke: #ff0000; stroke-width: 0.6"/>'


def shown(inside, attributes=""):
    return str(inline_svg(f"{HEAD} {attributes}>{SHAPE}{inside}</svg>".encode(), "plot", "a plot", "plot-caption"))


CLEAN = shown("")


def test_a_shape_is_shown_as_it_was_drawn():
    assert 'd="M 0 0 L 9 9"' in CLEAN
    assert 'style="fill: none; stroke: #ff0000; stroke-width: 0.6"' in CLEAN
    used = shown('<g clip-path="url(#c)"><use xlink:href="#a" x="1" transform="scale(1 -1)"/></g><clipPath id="c"/>')
    assert all(part in used for part in ("url(#plot-c)", 'href="#plot-a"', 'transform="scale(1 -1)"', 'id="plot-a"'))


@pytest.mark.parametrize(
    "inside",
    [
        "<script>alert(1)</script>",
        "<style>* {display: none}</style>",
        "<metadata><x/></metadata>",
        "<title>another title</title>",
        '<image href="https://example.org/x.png"/>',
        "<!-- --><?php echo 1 ?>",
        "words",
    ],
)
def test_what_is_no_shape_is_left_out_with_all_that_it_holds(inside):
    """Styles would hold for the whole page; the rest says nothing."""
    assert shown(inside) == CLEAN


def test_nothing_in_it_acts():
    """Nor would a page let it: its policy forbids all scripts."""
    assert shown('<g onclick="alert(1)"/>', 'onload="alert(1)"') == shown("<g/>")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("regret", "<svg"),
        ("regret", ""),
        ("regret", HEAD + ">" + "<g>" * 100_000 + "</g>" * 100_000 + "</svg>"),
        ("regret", '<!DOCTYPE svg SYSTEM "x"><svg>&a;</svg>'),
        ("unknown", f"{HEAD}/>"),
        ("gone", None),
    ],
)
def test_what_is_no_drawing_is_refused_with_its_name(tmp_path, name, content):
    if content is not None:
        (tmp_path / f"{name}.svg").write_text(content)
    with pytest.raises(InputError, match=rf"{name}\.svg: is no drawing of this program"):
        read_pictures(tmp_path, {"regret": "Regret", "gone": "Gone"}, {name: "How to read it"})


def test_figures_are_read_in_the_order_of_their_captions(tmp_path):
    for name in ("regret", "level-trace"):
        (tmp_path / f"{name}.svg").write_text(f"{HEAD}>{SHAPE}</svg>")
    titles = {"regret": "Regret", "level-trace": "Levels"}
    pictures = read_pictures(tmp_path, titles, dict.fromkeys(("level-trace", "regret"), "How to read it"))
    assert [(picture.name, picture.title, picture.caption) for picture in pictures] == [
        ("level-trace", "Levels", "How to read it"),
        ("regret", "Regret", "How to read it"),
    ]
