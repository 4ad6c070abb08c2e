"""Several people at the same instant, each on a connection of their own."""

import threading
import time
from collections.abc import Callable
from typing import Any

from django.db import connection, transaction


def at_once(*acts: Callable[[], Any]) -> list[Any]:
    """Run all acts together; each gives its result or the exception it raised."""
    start, results = threading.Barrier(len(acts)), [None] * len(acts)

    def run(place: int, act: Callable[[], Any]) -> None:
        start.wait()
        try:
            results[place] = act()
        except Exception as problem:
            results[place] = problem
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(place, act)) for place, act in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def while_it_lasts(first: Callable[[], Any], second: Callable[[], Any]) -> list[Any]:
    """Results of both: `second` begins when `first` has acted and is not committed yet."""
    acted, results = threading.Event(), [None, None]

    def run(place: int, act: Callable[[], Any]) -> None:
        try:
            results[place] = act()
        except Exception as problem:
            results[place] = problem
        finally:
            acted.set()
            connection.close()

    def hold() -> Any:
        with transaction.atomic():
            done = first()
            acted.set()
            time.sleep(0.5)
        return done

    holding = threading.Thread(target=run, args=(0, hold))
    holding.start()
    acted.wait()
    following = threading.Thread(target=run, args=(1, second))
    following.start()
    holding.join()
    following.join()
    return results
