"""A bounded store of results: what was made last stays, and nothing is made twice at once."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock, RLock
from typing import Any

__all__ = ["Store"]


class Store:
    """Results by key, for many threads; past `most` of them the one longest unused gives way.

    A key is compared as it is: to look a result up costs one hash, however many fields a view
    has. Who asks for what another is making waits for it; other keys wait for nobody.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: OrderedDict[Hashable, Any] = OrderedDict()
        self._making: dict[Hashable, RLock] = {}
        self._lock = Lock()

    def result(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The result of a key, made now if it is not there."""
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]
            turn = self._making.setdefault(key, RLock())
        with turn:
            with self._lock:
                if key in self._made:  # by the one whose turn it was
                    return self._made[key]
            try:
                made = make()
                with self._lock:
                    self._made[key] = made
                    while len(self._made) > self._most:
                        self._made.popitem(last=False)
                return made
            finally:
                with self._lock:
                    self._making.pop(key, None)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._made.clear()

    def __len__(self) -> int:
        return len(self._made)
