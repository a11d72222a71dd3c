"""Figures look the same everywhere, can be told apart by all readers, and carry their caveats."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont
from matplotlib.text import Text

from reservoir.hydro.inflow import Inflow
from reservoir.planning.plan import Plan
from reservoir.report.figures import style
from reservoir.report.figures import style as looks
from reservoir.report.figures.figures import plan_figures
from reservoir.report.figures.style import FOOT, add_legend, broken, figure_style, foot_texts, footed_figure, rendered
from reservoir.rules import FAMILIES

QUANTITIES = ("STORAGE", "INFLOW", "RELEASE", "POWER", "SPILL", "OBJECTIVE")
KINDS = ("WET", "NORMAL", "DRY")
OTHERS = ("REFERENCE", "LIMITS")

# Machado, Oliveira and Fernandes 2009, full severity, on linear RGB.
VISIONS = {
    "usual": np.eye(3),
    "protan": np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]),
    "deutan": np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
    "tritan": np.array([[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]]),
}
# CIE L*a*b* of linear sRGB; a difference of 2.3 is just noticeable.
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = XYZ.sum(axis=1)
CLEARLY = 15


def lab(colour: str, vision: str) -> np.ndarray:
    encoded = np.array(to_rgb(colour))
    linear = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    seen = np.clip(VISIONS[vision] @ linear, 0, 1)
    x, y, z = np.cbrt(np.maximum(XYZ @ seen / WHITE, 1e-6))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def foot_of(figure: Figure):
    (foot,) = figure.findobj(match=lambda artist: artist.get_gid() == FOOT)
    return foot


def test_every_meaning_has_a_colour_of_its_own():
    colours = [getattr(style, name) for name in (*QUANTITIES, *KINDS, *OTHERS)]
    assert len(set(colours)) == len(colours)


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("together", [QUANTITIES, KINDS], ids=["quantities", "kinds of years"])
def test_colours_that_stand_together_are_told_apart_by_every_reader(vision, together):
    seen = {name: lab(getattr(style, name), vision) for name in together}
    for one, other in combinations(together, 2):
        assert np.linalg.norm(seen[one] - seen[other]) > CLEARLY, (one, other)


@pytest.mark.parametrize("vision", VISIONS)
def test_families_of_rules_and_perfect_foresight_are_told_apart_by_every_reader(vision):
    shown = {**looks.FAMILY_LOOKS, "perfect foresight": looks.FORESIGHT}
    seen = {name: lab(look.colour, vision) for name, look in shown.items()}
    for one, other in combinations(seen, 2):
        assert np.linalg.norm(seen[one] - seen[other]) > CLEARLY, (one, other)


def test_families_of_rules_are_told_apart_in_black_and_white():
    shown = (*looks.FAMILY_LOOKS.values(), looks.OTHER_FAMILY, looks.FORESIGHT)
    assert len({look.line for look in shown}) == len(shown)
    assert len({look.marker for look in shown}) == len(shown)


def test_every_family_has_a_look_of_its_own_and_any_other_one_at_all():
    assert set(FAMILIES) <= set(looks.FAMILY_LOOKS)
    assert looks.family_look("of somebody else") is looks.OTHER_FAMILY


def test_a_legend_too_wide_for_the_figure_takes_several_rows(plan: Plan):
    with figure_style():
        figure, sheet = footed_figure(3, broken(*foot_texts(plan)))
        ax = sheet.add_subplot()
        for each in range(9):
            ax.plot([0, 1], label=f"a name of some length, {each}")
        legend = add_legend(sheet, ax)
        figure.draw_without_rendering()
        assert legend.get_window_extent().width <= figure.bbox.width


def test_a_note_stands_between_the_origin_and_the_caveats(plan: Plan):
    bare, noted = broken(*foot_texts(plan)), broken(*foot_texts(plan, "said of this figure"))
    assert noted == [bare[0], "said of this figure", *bare[1:]]


def test_the_users_settings_are_back_after_drawing(plan: Plan):
    before = dict(mpl.rcParams)
    plan_figures(plan)
    assert dict(mpl.rcParams) == before


def test_the_users_settings_do_not_change_a_figure(plan: Plan):
    usual = rendered(plan_figures(plan)["storage-fan"], "svg")
    with mpl.rc_context({"font.size": 20, "axes.facecolor": "red", "svg.hashsalt": "other"}):
        assert rendered(plan_figures(plan)["storage-fan"], "svg") == usual


def test_no_figure_is_left_open_in_pyplot(plan: Plan):
    import matplotlib.pyplot as plt

    plan_figures(plan)
    assert plt.get_fignums() == []


def test_the_foot_names_reservoir_years_and_solver_and_holds_every_caveat(plan: Plan):
    foot = " ".join(broken(*foot_texts(plan)))
    assert "xiaowan, 1953 to 1957, 5 years, solved by clpso-sequential" in foot
    for caveat in plan.caveats:
        assert caveat[1:] in foot


def test_a_plan_without_caveats_says_only_where_it_is_from(plan: Plan):
    bare = replace(
        plan,
        reservoir=replace(plan.reservoir, caveat=""),
        inflow=Inflow(plan.inflow.flow_m3s, plan.inflow.calendar),
    )
    assert len(broken(*foot_texts(bare))) == 1


@pytest.mark.parametrize("word", ["word ", "wide", "水库调度 ", "$x^2$ "])
def test_a_long_caveat_stays_within_the_figure(plan: Plan, word: str):
    long = replace(plan, reservoir=replace(plan.reservoir, caveat=word * 120))
    with figure_style():
        figure, _ = footed_figure(3, broken(*foot_texts(long)))
        figure.draw_without_rendering()
        foot = foot_of(figure).get_window_extent()
    assert foot.x0 >= 0
    assert foot.y0 >= 0
    assert foot.x1 <= figure.bbox.width
    assert foot.y1 <= figure.bbox.height - 3 * figure.dpi


def test_a_dollar_sign_in_a_caveat_is_printed_as_it_is(plan: Plan):
    priced = replace(plan, reservoir=replace(plan.reservoir, caveat="costs of $5 to $10"))
    with figure_style():
        figure, _ = footed_figure(3, broken(*foot_texts(priced)))
        assert foot_of(figure).get_parse_math() is False


def test_a_file_tells_no_date_and_no_version(plan: Plan):
    figure = plan_figures(plan)["storage-fan"]
    for kind in ("png", "svg"):
        content = rendered(figure, kind)
        assert b"Matplotlib v" not in content
        assert b"<dc:date>" not in content
        assert b"Software" not in content


def test_a_page_of_caveats_is_cut_off_and_says_so(plan: Plan):
    endless = replace(plan, inflow=replace(plan.inflow, caveat="word " * 4_000))
    lines = broken(*foot_texts(endless))
    assert sum(len(line) for line in lines) < 1.1 * style.FOOT_CHARACTERS
    assert "full text in plan.json and report.html" in " ".join(lines)


def test_caveats_of_a_thousand_letters_each_are_whole(plan: Plan):
    long = "word " * 199 + "ends."
    both = replace(
        plan,
        reservoir=replace(plan.reservoir, caveat=long),
        inflow=Inflow(plan.inflow.flow_m3s, plan.inflow.calendar, caveat=long),
    )
    assert " ".join(broken(*foot_texts(both))).count("ends.") == 2


@pytest.fixture
def no_other_font(monkeypatch):
    """A machine that has the font of figures and no other."""
    usual = [font for font in style.fontManager.ttflist if font.name in ("DejaVu Sans", "Last Resort High-Efficiency")]
    monkeypatch.setattr(style.fontManager, "ttflist", usual)
    monkeypatch.setattr(style, "findSystemFonts", lambda: [])
    style._further_fonts.cache_clear()
    yield
    style._further_fonts.cache_clear()


@pytest.mark.parametrize(
    "text", ["a_b^c$d$\\frac{1}{2", "<b>&amp;</b>", "W" * 64, "小湾水库", "مرحبا بالعالم हिन्दी עברית 🙂"]
)
def test_names_of_any_letters_are_drawn_as_far_as_fonts_have_them_and_warn_of_nothing(plan: Plan, text: str):
    named = replace(plan, reservoir=replace(plan.reservoir, name=text, caveat=text))
    with figure_style():
        figure, _ = footed_figure(3, broken(*foot_texts(named)))
        shown = foot_of(figure).get_text().replace("\n", "")
    assert shown.startswith(text if text.isascii() else style.drawable(text))
    assert rendered(figure, "png")
    assert b"<svg" in rendered(figure, "svg")


@pytest.mark.usefixtures("no_other_font")
def test_what_no_font_has_is_an_ellipsis_in_figures_and_told_with_what_mends_it():
    assert style.drawable("小湾水库 dam, café Œuvre Бра") == "… dam, café Œuvre Бра"
    told = style.undrawn_sentence("xiaowan", "小湾水库")
    assert told.startswith("No font of this machine has 小库水湾:")
    assert "fonts-noto-cjk" in told
    assert style.undrawn_sentence("xiaowan", "café") == ""


@pytest.mark.usefixtures("no_other_font")
def test_no_figure_has_a_letter_that_no_font_has(plan: Plan):
    named = replace(
        plan, reservoir=replace(plan.reservoir, name="小湾水库"), inflow=replace(plan.inflow, caveat="合成")
    )
    for figure in plan_figures(named).values():
        words = " ".join(text.get_text() for text in figure.findobj(match=Text))
        assert "…, 1953 to 1957" in words
        assert not {*"小湾水库合成"} & {*words}
        assert "…: letters that no font of this machine has" in words


def test_letters_that_the_usual_font_lacks_are_drawn_in_another_that_is_installed():
    symbol = "\u214a"  # which STIX has, that comes with matplotlib
    assert style._families(symbol) == ["DejaVu Sans", "STIXGeneral"]
    assert style.drawable(symbol) == symbol


def test_a_font_that_was_installed_after_matplotlib_looked_is_found(no_other_font, monkeypatch):
    file = findfont(FontProperties(family="STIXGeneral"))
    monkeypatch.setattr(style, "findSystemFonts", lambda: [str(file)])
    assert style.drawable("\u214a") == "\u214a"


@pytest.mark.skipif(not style._further_fonts(frozenset("水"))[0], reason="no font with Chinese letters is installed")
def test_a_chinese_name_is_drawn_where_a_font_has_it(plan: Plan):
    named = replace(plan, reservoir=replace(plan.reservoir, name="小湾水库"))
    (foot,) = [foot_of(figure) for name, figure in plan_figures(named).items() if name == "storage-fan"]
    assert foot.get_text().startswith("小湾水库, 1953")
    assert len(foot.get_fontfamily()) > 1
    assert style.undrawn_sentence("小湾水库") == ""
