# SPDX-License-Identifier: GPL-2.0
"""What sphinx is told: the documentation as HTML, man/ as manual pages, too."""

import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent

project = "rpcrdma2"
version = release = subprocess.run([HERE.parent / "tools/version"], check=True, text=True,
                                   stdout=subprocess.PIPE).stdout.strip()
html_show_copyright = False

# The benchmarks write these tables; pages of the manual include a few of them.
exclude_patterns = ["performance/raw"]

# Blocks are shell commands and their output, unless they say what else they are.
highlight_language = "none"
nitpicky = True
# "--json" is an option, and no dash.
smartquotes = False

html_theme = "alabaster"
html_theme_options = {
    "description": "NFS over RDMA, with RPC-over-RDMA versions 2 and 1",
    "page_width": "1240px",
    "sidebar_width": "240px",
    "body_max_width": "none",
    "fixed_sidebar": False,
}
html_static_path = ["_static"]
html_css_files = ["wide.css"]


def manual_page(path):
    """Named NAME.SECTION.rst; the first title is what NAME does."""
    name, section, _ = path.name.rsplit(".", 2)
    title = re.search(r"^=+\n(?:.*: )(.*)\n=+$", path.read_text(), re.MULTILINE)[1]
    return (f"man/{name}.{section}", name, title, "", section)


man_pages = [manual_page(path) for path in sorted(HERE.glob("man/*.rst"))]
