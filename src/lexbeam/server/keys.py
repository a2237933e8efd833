"""Who may use the server: keys, and how many characters each may translate in a month."""

from __future__ import annotations

import hashlib
import hmac
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lexbeam.errors import InputError
from lexbeam.server.errors import ApiError
from lexbeam.text.files import read_bytes

VARIABLE = "LEXBEAM_KEYS"
NO_LIMIT = 10**12
"""What is announced as the quota where there is none."""

_LARGEST_FILE = 1 << 20


@dataclass(frozen=True)
class Key:
    """A key of which only the digest is kept, and its quota."""

    digest: str
    quota: int | None = None


class Keys:
    """The keys there are, and what was translated with each in this month."""

    def __init__(
        self, keys: Mapping[str, int | None], used: Mapping[str, int] | None = None
    ) -> None:
        self._keys = {digest(key): Key(digest(key), quota) for key, quota in keys.items()}
        self._anybody = Key("")
        self._month = this_month()
        self._used = dict(used or {})

    @property
    def required(self) -> bool:
        """Whether a request needs a key."""
        return bool(self._keys)

    def find(self, given: str | None) -> Key | None:
        """Return the key that was given, None if there is no such key.

        Every key is compared, and each takes the same time, so that nothing can be learned from
        how long it takes.
        """
        if not self._keys:
            return self._anybody
        sought = digest(given or "")
        found = [key for known, key in self._keys.items() if hmac.compare_digest(known, sought)]
        return found[0] if found and given else None

    def used(self, key: Key) -> int:
        """Return the characters translated with a key in this month."""
        month = this_month()
        if self._month != month:
            self._month = month
            self._used.clear()
        return self._used.get(key.digest, 0)

    def charge(self, key: Key, characters: int) -> None:
        """Count characters.

        Raises:
            ApiError: there are more than the key has left.
        """
        used = self.used(key) + characters
        if key.quota is not None and used > key.quota:
            raise ApiError(456, "Quota exceeded: the characters of this key are used up")
        self._used[key.digest] = used

    def refund(self, key: Key, characters: int) -> None:
        """Take back what was counted for a request that was not answered."""
        self._used[key.digest] = max(0, self.used(key) - characters)

    @property
    def all_used(self) -> dict[str, int]:
        """The characters of this month by the digests of their keys."""
        return dict(self._used)


def digest(key: str) -> str:
    """Return what a key is kept as."""
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def this_month() -> str:
    """Return the month that quotas are counted in."""
    year, month, *_ = time.gmtime()
    return f"{year}-{month:02}"


def read_keys(path: Path | None) -> dict[str, int | None]:
    """Return the keys of a file and of the environment, each with its quota.

    Raises:
        InputError: a line is not a key with perhaps a number behind it.
    """
    lines = os.environ.get(VARIABLE, "").splitlines()
    sources = [(f"{VARIABLE}", number, line) for number, line in enumerate(lines, 1)]
    if path is not None:
        try:
            text = read_bytes(path, _LARGEST_FILE).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InputError(f"{path} is not UTF-8") from None
        sources += [(str(path), number, line) for number, line in enumerate(text.splitlines(), 1)]
    keys: dict[str, int | None] = {}
    for name, number, line in sources:
        key, *quota = line.split("#")[0].split()[:3] or [""]
        if not key:
            continue
        if len(quota) > 1 or (quota and not quota[0].isdecimal()):
            raise InputError(f"{name}: line {number} must be a key and perhaps a quota")
        keys[key] = int(quota[0]) if quota else None
    if path is not None and not keys:
        raise InputError(f"{path} has no key in it")
    return keys
