"""The blocks of a report, text, tables and figures, as Markdown and as HTML."""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

Value = str | int | float | None


@dataclass(frozen=True)
class Text:
    """A paragraph; `code` and **emphasis** as in Markdown."""

    text: str


@dataclass(frozen=True)
class Table:
    """A table. ``decimals`` is for printing; JSON has the numbers unrounded."""

    name: str
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Value]]
    decimals: int = 1

    def show(self, value: Value) -> str:
        """Return a value as it is printed."""
        if value is None:
            return "–"
        if isinstance(value, float):
            return f"{value:,.{self.decimals}f}".replace("-", "−")
        return f"{value:,}" if isinstance(value, int) else value

    def json(self) -> str:
        """Return the table as JSON: a list of records."""
        records = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        content = {"caption": plain(self.caption), "rows": records}
        return json.dumps(content, ensure_ascii=False, indent=1) + "\n"

    def markdown(self) -> str:
        """Return the table as Markdown, with its caption."""
        rows = [[self.show(value).replace("|", "\\|") for value in row] for row in self.rows]
        marks = ["---" if self._is_text(i) else "---:" for i in range(len(self.columns))]
        lines = [list(self.columns), marks, *rows]
        table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        return f"**{self.caption}**\n\n{table}\n"

    def html(self) -> str:
        """Return the table as HTML."""

        def row(cells: Sequence[str], tag: str) -> str:
            kinds = ["" if self._is_text(i) else ' class="number"' for i in range(len(cells))]
            inside = "".join(
                f"<{tag}{kind}>{cell}</{tag}>" for kind, cell in zip(kinds, cells, strict=True)
            )
            return f"<tr>{inside}</tr>"

        head = row([html.escape(column) for column in self.columns], "th")
        body = "\n".join(row([html.escape(self.show(v)) for v in r], "td") for r in self.rows)
        return (
            f'<div class="wide"><table id="{self.name}"><caption>{inline(self.caption)}</caption>'
            f"<thead>{head}</thead>\n<tbody>{body}</tbody></table></div>"
        )

    def _is_text(self, column: int) -> bool:
        values = [row[column] for row in self.rows if row[column] is not None]
        return all(isinstance(value, str) for value in values)


@dataclass(frozen=True)
class Figure:
    """A figure. ``draw`` is called with matplotlib's axes."""

    name: str
    caption: str
    draw: Callable[[Any], None]
    size: tuple[float, float] = (6.4, 4.0)

    def markdown(self, folder: str) -> str:
        """Return a link to the figure's file."""
        return f"![{plain(self.caption)}]({folder}/{self.name}.svg)\n\n*{self.caption}*\n"

    def html(self, svg: bytes) -> str:
        """Return the figure itself as HTML."""
        data = b64encode(svg).decode()
        return (
            f'<figure id="{self.name}"><img alt="{html.escape(plain(self.caption))}" '
            f'src="data:image/svg+xml;base64,{data}">'
            f"<figcaption>{inline(self.caption)}</figcaption></figure>"
        )


Block = Text | Table | Figure


@dataclass(frozen=True)
class Section:
    """A part of a report."""

    name: str
    title: str
    blocks: list[Block] = field(default_factory=list)


def inline(text: str) -> str:
    """Return the Markdown of a paragraph as HTML."""
    text = html.escape(text, quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)
    return re.sub(r"\[([^\]]+)\]\(([^)]+)\)", r'<a href="\2">\1</a>', text)


def plain(text: str) -> str:
    """Return a paragraph without its Markdown."""
    return text.replace("`", "").replace("**", "")
