"""How Sphinx builds the site: `make docs`. Nothing is fetched, at build or when it is read."""

import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
from sphinx.application import Sphinx

from unselected import __version__

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))
mpl.use("agg")

project = "unselected"
author = "the authors of unselected"
copyright = "the authors of unselected, BSD-3-Clause"  # noqa: A001 - the name is Sphinx's
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "sphinx_design",
    "mathml",
    "docstrings",
]
exclude_patterns = ["_build", "extensions", "gallery/*.ipynb", "gallery/*.py"]
templates_path = ["_templates"]
# Single backticks in docstrings: a link where there is such a name, code where there is none.
default_role = "py:obj"
highlight_language = "none"
suppress_warnings = ["config.cache"]  # the gallery is configured by objects that are not pickled

# Markdown
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

# The reference
autosummary_generate = True
autodoc_member_order = "groupwise"
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"  # numpydoc says the types
autodoc_mock_imports = ["jax", "numpyro", "pymc", "pytensor"]
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"^(?!.*plot_)",
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "api/backreferences",
    "doc_module": ("unselected",),
    "prefer_full_module": {r"unselected\..*"},
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "min_reported_time": 1e9,
    "abort_on_example_error": False,
    "only_warn_on_example_error": False,
    "plot_gallery": True,
    "download_all_examples": False,
    "matplotlib_animations": False,
    "show_signature": False,
    "image_scrapers": ("matplotlib",),
    "image_srcset": ["2x"],
    "reset_modules": ("matplotlib",),
}

# The look
LOGO = "_static/logo.svg"
html_theme = "pydata_sphinx_theme"
html_title = "unselected"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = LOGO
html_show_sourcelink = False
html_copy_source = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {
        "text": "unselected",
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo.svg",
    },
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_nav_level": 1,
    "navigation_depth": 2,
    "show_toc_level": 2,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "back_to_top_button": True,
}


def _of_other_libraries(
    app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out members that scikit-learn or Python give: their documentation is elsewhere."""
    del app, what, skip, options
    home = getattr(obj, "__module__", None) or ""
    if name.startswith("set_") and name.endswith("_request"):
        return True
    return True if home.split(".")[0] in {"sklearn", "builtins"} else None


def setup(app: Sphinx) -> None:
    """Connect what this file defines."""
    app.connect("autodoc-skip-member", _of_other_libraries)
