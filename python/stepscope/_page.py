"""A report as one HTML page, for a notebook or a file."""

from __future__ import annotations

import html
import os
from collections.abc import Sequence

from ._engine import PathLike, run


class Page:
    """`html` is the whole page. A notebook shows it in a frame that can neither reach the notebook nor the network."""

    def __init__(self, text: str, names: Sequence[str], height: int = 720) -> None:
        self.html = text
        self.names = tuple(os.path.basename(name) for name in names)
        self.height = height

    def save(self, path: PathLike) -> None:
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(self.html)

    def _repr_html_(self) -> str:
        return (
            '<iframe sandbox="allow-scripts" referrerpolicy="no-referrer" title="Stepscope report" '
            'style="width:100%%;height:%dpx;border:1px solid #8884" srcdoc="%s"></iframe>'
            % (self.height, html.escape(self.html, quote=True))
        )

    def __repr__(self) -> str:
        return "<stepscope.Page: report of %s>" % ", ".join(self.names)


def page_of(files: Sequence[str], options: Sequence[str], height: int = 720) -> Page:
    """Both as words of the command line."""
    return Page(run(["report", *files, *options, "-o", "-"]).decode("utf-8"), files, height)
