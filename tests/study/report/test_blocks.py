from __future__ import annotations

import json

from lexbeam.study.report.blocks import Figure, Table, inline

TABLE = Table("t", "A `caption`", ["set", "BLEU", "n"], [["a|b <i>", -1.25, 1200], ["c", None, 3]])


def test_a_table_is_markdown() -> None:
    assert TABLE.markdown().splitlines() == [
        "**A `caption`**",
        "",
        "| set | BLEU | n |",
        "| --- | ---: | ---: |",
        "| a\\|b <i> | −1.2 | 1,200 |",
        "| c | – | 3 |",
    ]


def test_a_tables_json_has_the_numbers_whole() -> None:
    content = json.loads(TABLE.json())
    assert content["caption"] == "A caption"
    assert content["rows"][0] == {"set": "a|b <i>", "BLEU": -1.25, "n": 1200}
    assert content["rows"][1]["BLEU"] is None


def test_html_is_escaped() -> None:
    assert "a|b &lt;i&gt;" in TABLE.html()
    assert "<caption>A <code>caption</code></caption>" in TABLE.html()
    assert inline("1 < 2 **is** `x`, [see](y.md)") == (
        '1 &lt; 2 <strong>is</strong> <code>x</code>, <a href="y.md">see</a>'
    )


def test_a_figure_is_inside_the_page() -> None:
    figure = Figure("f", 'The "figure"', print)
    assert figure.markdown("figures").startswith('![The "figure"](figures/f.svg)')
    assert 'src="data:image/svg+xml;base64,PHN2Zz4="' in figure.html(b"<svg>")
    assert 'alt="The &quot;figure&quot;"' in figure.html(b"<svg>")
