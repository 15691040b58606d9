"""What happens once, before all else in the app: how torch computes beside others, and what is imported early."""

import gc
import os

# An idle torch thread must sleep: by default it spins, and beside a browser or a second session a split that takes 1 ms
# alone takes 50. And every run of a page is a thread that would bring as many as the machine has cores. Both are read
# when torch is first imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("OMP_NUM_THREADS", str(min(os.cpu_count() or 1, 4)))


def import_heavy() -> None:
    """Import torch and pandas, without a search for garbage meanwhile: it would cost a cold start half a second.

    Two sessions that import pandas late and at once find it half made. Here one thread imports it, and the others wait.
    """
    gc.disable()
    try:
        import pandas  # noqa: F401
        import torch  # noqa: F401
    finally:
        gc.enable()
    gc.freeze()  # modules stay for good: nobody needs to look there again


import_heavy()
