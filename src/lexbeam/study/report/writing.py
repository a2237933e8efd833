"""Writing a report: as Markdown, as HTML, and every table and figure as a file."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path

from lexbeam.study.report.blocks import Figure, Section, Table, Text, inline
from lexbeam.study.report.figures import render
from lexbeam.text.atomic_write import write_file

_CSS = """
:root { color-scheme: light; }
body { font: 16px/1.55 Georgia, "Times New Roman", serif; color: #1c1c1c; background: #fff;
  max-width: 50rem; margin: 2.5rem auto; padding: 0 1.25rem; }
h1, h2, table, nav, figcaption, code { font-family: system-ui, "Segoe UI", sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; } h2 { font-size: 1.2rem; margin-top: 2.4rem; }
nav { font-size: .85rem; line-height: 2; border-block: 1px solid #ddd; padding: .3rem 0; }
nav a { margin-right: 1rem; white-space: nowrap; } a { color: #0b5a8a; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .82rem; margin: 1.2rem 0;
  font-variant-numeric: tabular-nums; }
caption { text-align: left; white-space: nowrap; font-weight: 600; padding-bottom: .35rem; }
th, td { padding: .25rem .7rem .25rem 0; text-align: left; vertical-align: top; }
th { border-bottom: 1px solid #888; font-weight: 600; } td { border-bottom: 1px solid #eee; }
th.number, td.number { text-align: right; white-space: nowrap; }
td:last-child:not(.number) { max-width: 34rem; }
figure { margin: 1.6rem 0; } figure img { max-width: 100%; height: auto; }
figcaption { font-size: .82rem; color: #555; } code { font-size: .88em; }
@media print { nav { display: none; } body { margin: 0; } }
"""


def write_report(
    out: Path, name: str, title: str, sections: Sequence[Section], folders: tuple[str, str]
) -> None:
    """Write ``name``.md and ``name``.html, and tables and figures into two folders."""
    tables, figures = folders
    markdown, page = [f"# {title}\n"], []
    for section in sections:
        markdown.append(f"## {section.title}\n")
        page.append(f'<h2 id="{section.name}">{html.escape(section.title)}</h2>')
        for block in section.blocks:
            if isinstance(block, Text):
                markdown.append(f"{block.text}\n")
                page.append(f"<p>{inline(block.text)}</p>")
            elif isinstance(block, Table):
                write_file(out / tables / f"{block.name}.json", block.json())
                write_file(out / tables / f"{block.name}.md", block.markdown())
                markdown.append(block.markdown())
                page.append(block.html())
            else:
                page.append(block.html(_write_figure(out / figures, block)))
                markdown.append(block.markdown(figures))
    write_file(out / f"{name}.md", "\n".join(markdown))
    write_file(out / f"{name}.html", _page(title, sections, page))


def _write_figure(folder: Path, figure: Figure) -> bytes:
    files = render(figure)
    for kind, content in files.items():
        write_file(folder / f"{figure.name}.{kind}", content)
    return files["svg"]


def _page(title: str, sections: Sequence[Section], body: Sequence[str]) -> str:
    links = " ".join(
        f'<a href="#{section.name}">{html.escape(section.title)}</a>' for section in sections
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_CSS}</style>\n</head>\n<body>\n"
        f"<h1>{html.escape(title)}</h1>\n<nav>{links}</nav>\n"
        + "\n".join(body).replace('href="times.md"', 'href="times.html"')
        + "\n</body>\n</html>\n"
    )
