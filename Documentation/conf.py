# SPDX-License-Identifier: GPL-2.0
"""What sphinx is told: the documentation as HTML, man/ as manual pages, too."""

import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
MODULE = (HERE / "../net/sunrpc/xprtrdma/module.c").read_text()

project = "rpcrdma2"
version = release = re.search(r'MODULE_VERSION\("(.*)"\)', MODULE)[1]
html_show_copyright = False


def manual_page(path):
    """Named NAME.SECTION.rst; the first title is what NAME does."""
    name, section, _ = path.name.rsplit(".", 2)
    title = re.search(r"^=+\n(?:.*: )(.*)\n=+$", path.read_text(), re.MULTILINE)[1]
    return (f"man/{name}.{section}", name, title, "", section)


man_pages = [manual_page(path) for path in sorted(HERE.glob("man/*.rst"))]
