"""Translate whole files: localisation formats, documents, subtitles; see ``docs/files.md``.

>>> import lexbeam, lexbeam.files
>>> translator = lexbeam.load("en-de")  # doctest: +SKIP
>>> lexbeam.files.translate("strings.po", "strings.de.po", translator)  # doctest: +SKIP
"""

from lexbeam.files.formats import formats
from lexbeam.files.job import Failure, Report, count, translate, units
from lexbeam.files.units import Unit

__all__ = ["Failure", "Report", "Unit", "count", "formats", "translate", "units"]
