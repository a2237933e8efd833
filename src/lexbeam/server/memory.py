"""How much of what clients send is held at a time, so that large files can't fill the memory."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext

from lexbeam.server.errors import too_busy

_LOOK_EVERY = 0.05
_SMALL = 1 << 20  # bytes that need no permission


class HeldMemory:
    """Counts the bytes of large bodies and documents."""

    def __init__(self, most: int, patience: float) -> None:
        self._left = most
        self._patience = patience

    def hold(self, size: int) -> AbstractAsyncContextManager[None]:
        """Hold some bytes, as soon as there is room for them.

        Raises:
            ApiError: there is none, even after waiting.
        """
        return self._held(size) if size > _SMALL else nullcontext()

    @asynccontextmanager
    async def _held(self, size: int) -> AsyncIterator[None]:
        deadline = time.monotonic() + self._patience
        while size > self._left:
            if time.monotonic() > deadline:
                raise too_busy(30)
            await asyncio.sleep(_LOOK_EVERY)
        self._left -= size
        try:
            yield
        finally:
            self._left += size
