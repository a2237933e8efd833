"""Glossaries: CSV, TSV and TBX files whose terms become constraints on a translation."""

from __future__ import annotations

from lexbeam.constraints.glossary.entries import Problem
from lexbeam.constraints.glossary.glossary import Found, Glossary, read_file
from lexbeam.constraints.glossary.matching import Match, Rule

__all__ = ["Found", "Glossary", "Match", "Problem", "Rule", "read_file"]
