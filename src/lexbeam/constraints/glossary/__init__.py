"""Glossaries: CSV, TSV and TBX files whose terms become constraints on a translation."""

from __future__ import annotations

from lexbeam.constraints.glossary.entries import Problem
from lexbeam.constraints.glossary.glossary import Found, Glossary
from lexbeam.constraints.glossary.matching import Match, Rule
from lexbeam.constraints.glossary.reading import read_file

__all__ = ["Found", "Glossary", "Match", "Problem", "Rule", "read_file"]
