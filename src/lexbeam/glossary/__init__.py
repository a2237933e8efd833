"""Glossaries: CSV, TSV and TBX files whose terms become constraints on a translation."""

from __future__ import annotations

from lexbeam.glossary.book import Found, Glossary, read_file
from lexbeam.glossary.concepts import Problem
from lexbeam.glossary.matching import Match, Rule

__all__ = ["Found", "Glossary", "Match", "Problem", "Rule", "read_file"]
