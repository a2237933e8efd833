"""A report on constraints: every one with its place, its words, its cost and what it replaced."""

from __future__ import annotations

from lexbeam.translation.reporting.collect import Reporter
from lexbeam.translation.reporting.rows import Row, Summary
from lexbeam.translation.reporting.writing import SUFFIXES, write

__all__ = ["SUFFIXES", "Reporter", "Row", "Summary", "write"]
