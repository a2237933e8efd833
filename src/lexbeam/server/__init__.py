"""``lexbeam serve``: a server that speaks DeepL's API, LibreTranslate's and its own.

It needs the extra ``server``; see ``docs/server.md``.
"""
