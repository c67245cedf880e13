"""Scratch arrays of functions that threads may call at once: each thread gets its own, when it first asks."""

from __future__ import annotations

import threading

import numpy as np

from dalembert.arrays import Array


class Workspaces(threading.local):
    """Numbers to write in; what one thread writes no other one sees."""

    def __init__(self, size: int):
        self.mine: Array = np.zeros(size)  # threading.local calls __init__ once in every thread
