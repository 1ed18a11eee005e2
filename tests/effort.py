"""How much work something is, for tests that must not depend on what else the machine does, nor on the tests before."""

import gc
import sys
from collections.abc import Callable
from time import thread_time


def effort(work: Callable[[], object], enough: float = 0.0) -> float:
    """Seconds of the processor that `work` takes: the least of three tries, or the first that is below `enough`.

    Other threads do not count, and no garbage is collected meanwhile: that would go over all that the tests before left
    behind. Each try begins with empty caches.
    """
    least = float("inf")
    collecting = gc.isenabled()
    gc.disable()
    try:
        for _ in range(3):
            _forget()
            begun = thread_time()
            work()
            least = min(least, thread_time() - begun)
            if least < enough:
                break
    finally:
        if collecting:
            gc.enable()
    return least


def is_proportional(work: Callable[[int], object], size: int, times: int) -> bool:
    """Whether `work` on a size that is `times` as large takes about as many times as long, and not their square."""
    most = times**1.5 * effort(lambda: work(size)) + 0.1
    return effort(lambda: work(size * times), most) < most


def _forget() -> None:
    """Clear whatever the package's functions remember."""
    for name, module in list(sys.modules.items()):
        if name.startswith("surefoot."):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()
