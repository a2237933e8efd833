"""DeepL's API, versions 2 and 3, as its clients use it."""

from __future__ import annotations

from lexbeam.server.deepl import documents, glossaries_v2, glossaries_v3, languages, translate
from lexbeam.server.endpoints import Endpoint

ENDPOINTS: list[Endpoint] = [
    *translate.ENDPOINTS,
    *languages.ENDPOINTS,
    *glossaries_v2.ENDPOINTS,
    *glossaries_v3.ENDPOINTS,
    *documents.ENDPOINTS,
]
