"""How Sphinx builds the documentation: ``make docs``; every warning is an error."""

import sys
from pathlib import Path

import reservoir

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "reservoir"
author = copyright = "The reservoir authors"
version = release = reservoir.__version__

extensions = [
    "generated",  # help texts and file formats, from the program itself
    "matplotlib.sphinxext.plot_directive",  # figures made by the code that the page shows
    "myst_nb",  # pages in Markdown, and the notebook, executed
    "sources",  # names of the code become links to it
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx-mathjax-offline",  # formulas without a network
]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "examples"]

nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300

plot_formats = [("svg", 100)]
plot_include_source = True
plot_html_show_formats = False
plot_html_show_source_link = False

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # types stand in the docstrings
napoleon_use_param = napoleon_use_rtype = False  # types are text: words such as "years" are no names to link

html_theme = "furo"
html_title = f"reservoir {release}"
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["code.css"]
