"""Where compiled code is kept, and that nothing breaks where it cannot be kept."""

import os
import subprocess
import sys

import numba

from dalembert.kernels import _jit

RUN = """
import dalembert as dal
m = dal.Model(gravity=(0, 0, 0))
m.add_body("b", 1.0, (1, 2, 2.5))
print(dal.simulate(m, "moser-veselov-explicit", h=0.1, t_end=1.0, v0=(1, 2, 3, 0, 0, 0)).q[-1].tolist())
from dalembert.kernels import _jit
print(_jit.CACHE_DIR)
"""


def run(**environment):
    done = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, timeout=300, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_without_a_writable_directory_the_numbers_are_the_same(tmp_path):
    """A file where the cache folder should be: nothing can be written there, not even by root."""
    blocked = tmp_path / "file"
    blocked.write_text("")
    kept, folder = run(DALEMBERT_CACHE_DIR=str(tmp_path / "cache"))
    uncached, nowhere = run(DALEMBERT_CACHE_DIR=str(blocked))
    assert kept == uncached
    assert folder.startswith(str(tmp_path))
    assert nowhere == "None"
    assert any((tmp_path / "cache").rglob("*.nbi"))


def test_other_users_of_numba_keep_their_cache():
    before = numba.config.CACHE_DIR

    @_jit.kernel
    def f(x):
        return x + 1.0

    assert before == numba.config.CACHE_DIR
    assert f(1.0) == 2.0


def test_hash_sees_edits_in_every_compiled_file(tmp_path):
    for folder in ("kernels", "steppers/family"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "a.py").write_text("x = 1")
    first = _jit.sources_hash(tmp_path)
    assert _jit.sources_hash(tmp_path) == first
    (tmp_path / "steppers/family/a.py").write_text("x = 2")
    second = _jit.sources_hash(tmp_path)
    (tmp_path / "kernels/a.py").write_text("x = 2")
    assert len({first, second, _jit.sources_hash(tmp_path)}) == 3


def test_listing_and_importing_compile_nothing():
    code = (
        "import dalembert as dal; dal.steppers(); import dalembert.kernels.loop as l; "
        "print(sum(len(s.step.signatures) for s in dal.steppers() if s.engine is None), len(l.run.signatures))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.split() == ["0", "0"]
