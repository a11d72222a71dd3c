"""Nothing of a drawing reaches a page but shapes, whoever has changed its file; and no file of elsewhere does."""

import os

import pytest

from reservoir.errors import InputError
from reservoir.report.html.page import UncleanError, inline_svg, read_drawing, read_pictures

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
        '<script href="https://example.org/x.js"/>',
        '<s:script xmlns:s="http://www.w3.org/2000/svg">alert(1)</s:script>',
        '<h:form xmlns:h="http://www.w3.org/1999/xhtml" action="https://example.org"><h:input/></h:form>',
        "<form><input/></form>",
        "<foreignObject><iframe src='https://example.org'/></foreignObject>",
        '<a xlink:href="https://example.org"><path d="M 0 0"/></a>',
        '<image href="https://example.org/x.png"/>',
        '<image href="data:image/svg+xml;base64,PHN2Zz4="/>',
        "<style>@import url(https://example.org)</style>",
        "<style>* {display: none}</style>",
        '<animate attributeName="href" to="javascript:alert(1)"/>',
        '<set attributeName="onclick" to="alert(1)"/>',
        "<text>not of this package</text>",
        "<title>another title</title>",
        "<metadata><x/></metadata>",
        "<!-- --><?php echo 1 ?>",
        "words",
    ],
)
def test_what_is_no_shape_is_left_out_with_all_that_it_holds(inside):
    assert shown(inside) == CLEAN


@pytest.mark.parametrize(
    "attribute",
    [
        'onclick="alert(1)"',
        'onload="alert(1)"',
        'href="javascript:alert(1)"',
        'href="https://example.org"',
        'href="other.svg#a"',
        'href="#nothing"',
        'clip-path="url(https://example.org/#a)"',
        'clip-path="url(other.svg#a)"',
        'transform="url(#a)"',
        'd="M 0 0; url(x)"',
        'class="caveats"',
        'tabindex="0"',
        'formaction="https://example.org"',
        'xmlns:x="u" x:onclick="alert(1)"',
    ],
)
def test_attributes_that_act_or_point_elsewhere_are_left_out(attribute):
    assert shown(f"<g {attribute}/>") == shown("<g/>")
    assert shown("", attribute) == CLEAN


@pytest.mark.parametrize(
    "declaration",
    [
        "fill: url(https://example.org)",
        "fill: url(other.svg#a)",
        "fill: url(#a)",
        r"fill: \75rl(x)",
        "background: red",
        "position: fixed",
        "stroke: expression(alert(1))",
        "stroke: red} * {display: none",
        "@import 'x'",
        "stroke: /* */ red",
        "behavior: x",
    ],
)
def test_declarations_but_those_of_colours_and_lines_are_left_out(declaration):
    style = 'style="fill: none;{}"'
    assert shown(f"<g {style.format(declaration)}/>") == shown(f"<g {style.format('')}/>".replace("none;", "none"))


def test_copies_are_of_paths_alone():
    """Copies of copies are few bytes in a file, and without end for whoever draws them."""
    bomb = "".join(f'<g id="g{each}"><use href="#g{each + 1}"/><use href="#g{each + 1}"/></g>' for each in range(30))
    assert "href" not in shown(bomb)
    assert 'href="#plot-a"' in shown(bomb + '<use href="#a"/>')


LAUGHS = "".join(f'<!ENTITY l{each + 1} "{f"&l{each};" * 10}">' for each in range(9))


@pytest.mark.parametrize(
    ("svg", "words"),
    [
        (f'<!DOCTYPE svg [<!ENTITY l0 "ha">{LAUGHS}]>{HEAD} d="&l9;"/>', "defines XML entities"),
        (f'<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>{HEAD}>&x;</svg>', "defines XML entities"),
        (f'<!DOCTYPE svg [<!ENTITY % x SYSTEM "http://example.org/x"> %x;]>{HEAD}/>', "defines XML entities"),
        (HEAD + ">" + "<g>" * 300_000 + "</g>" * 300_000 + "</svg>", "more than 40 levels deep"),
        (HEAD + ">" + "<g>" * 300_000, "is not an SVG file"),
        ("<html/>", "is not an SVG file"),
        ("", "is not an SVG file"),
        (HEAD + ' x="\x1b"/>', "is not an SVG file"),
        (f"{HEAD}/>".encode("utf-16"), "is not an SVG file"),
        (b"\xff\xd8\xff", "is not an SVG file"),
    ],
)
def test_what_is_no_drawing_or_may_grow_without_end_is_refused(svg, words):
    with pytest.raises(UncleanError, match=words):
        read_drawing(svg if isinstance(svg, bytes) else svg.encode())


def test_a_drawing_beyond_any_plan_is_refused(monkeypatch):
    monkeypatch.setattr("reservoir.report.html.page.MOST_BYTES", 1000)
    with pytest.raises(UncleanError, match="is larger than"):
        read_drawing(f"{HEAD}>{SHAPE * 20}</svg>".encode())


def drawn(folder, name="regret"):
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.svg").write_text(f"{HEAD}>{SHAPE}</svg>")
    return folder


def test_figures_are_read_from_their_folder_and_not_through_links(tmp_path):
    outside = drawn(tmp_path / "outside")
    titles, captions = {"regret": "Regret"}, {"regret": "How to read it"}
    assert [each.name for each in read_pictures(outside, titles, captions)] == ["regret"]
    inside = tmp_path / "figures"
    inside.mkdir()
    (inside / "regret.svg").symlink_to(outside / "regret.svg")
    (tmp_path / "linked").symlink_to(outside)
    for folder in (inside, tmp_path / "linked"):
        with pytest.raises(InputError, match=r"regret\.svg: is a link or a special file"):
            read_pictures(folder, titles, captions)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: None, "cannot be read"),
        (lambda path: path.mkdir(), "is a link or a special file"),
        (lambda path: os.mkfifo(path), "is a link or a special file"),
        (lambda path: path.write_text("<svg"), "is not an SVG file"),
    ],
)
def test_a_figure_that_cannot_be_shown_is_named(tmp_path, make, words):
    make(tmp_path / "regret.svg")
    with pytest.raises(InputError, match=rf"regret\.svg: {words}"):
        read_pictures(tmp_path, {"regret": "Regret"}, {"regret": "How to read it"})


def test_every_figure_that_cannot_be_shown_is_named_at_once(tmp_path):
    drawn(tmp_path)
    with pytest.raises(InputError) as refused:
        read_pictures(tmp_path, {"regret": "Regret"}, dict.fromkeys(("regret", "../regret", "<b>"), "How to read it"))
    assert [mistake.problem for mistake in refused.value.mistakes] == ["is not a figure of this version"] * 2
