"""How the web server runs: the application is loaded once, then shared by its workers."""

import gc
import os
from typing import Any

from ops import processes

wsgi_app = "annotator.wsgi"
bind = os.environ.get("BIND", "127.0.0.1:8000")
worker_class = "gthread"  # sync workers close every connection
workers = int(os.environ.get("WEB_WORKERS", "2"))
threads = int(os.environ.get("WEB_THREADS", "4"))
keepalive = 75
timeout = 60
graceful_timeout = 10
preload_app = True
control_socket_disable = True
worker_tmp_dir = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
proc_name = "concord-web"
loglevel = os.environ.get("LOG_LEVEL", "WARNING").lower()


def when_ready(server: Any) -> None:
    """Leave what was loaded out of every later collection: its pages stay shared between the workers."""
    from django.db import connections

    connections.close_all()
    gc.collect()
    gc.freeze()


def post_fork(server: Any, worker: Any) -> None:
    """A worker does not outlive a master that was killed."""
    processes.end_with(server.pid)


def child_exit(server: Any, worker: Any) -> None:
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        from prometheus_client import multiprocess

        multiprocess.mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]  # ships none
