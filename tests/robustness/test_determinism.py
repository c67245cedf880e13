"""The same digits in every process, whatever the number of threads of the linear algebra beside it: all scenes, bit for bit."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from tests.robustness.hashes import digest

import dalembert as dal


def test_all_scenes_have_the_same_digits_in_another_process():
    here = {name: digest(name) for name in dal.scenes.names()}
    paths = os.pathsep.join(map(str, (os.getcwd(), *sys.path)))
    given = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-m", "tests.robustness.hashes"], capture_output=True, text=True, env=given, timeout=300)
    assert done.returncode == 0, done.stderr
    there = json.loads(done.stdout)
    assert [name for name in here if here[name] != there[name]] == []
    assert len(set(here.values())) > 0.9 * len(here)  # hashes of something; two scenes may begin alike


def test_scenes_in_threads_have_the_same_digits():
    names = [name for name in dal.scenes.names() if dal.scenes.find(name).small is None][:40]
    alone = [digest(name) for name in names]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(digest, names)) == alone
