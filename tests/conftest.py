from __future__ import annotations

from hypothesis import settings

# How long an example takes says something about the machine, nothing about the code.
settings.register_profile("lexbeam", deadline=None, print_blob=True)
settings.load_profile("lexbeam")

pytest_plugins = ["helpers.toy_text", "helpers.running_server", "helpers.second_searches"]
