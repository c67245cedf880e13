"""How kernels are compiled, where compiled code is kept, and what is said about it."""

import ast
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numba
import numpy as np
import pytest

import dalembert.kernels.tree.variational.layout as variational_layout
from dalembert.kernels import _cache, _far, _jit
from dalembert.kernels.linalg.six import axpy6, load6, store6

RUN = """
import dalembert as dal
m = dal.Model(gravity=(0, 0, 0))
m.add_body("b", 1.0, (1, 2, 2.5))
print(dal.simulate(m, "moser-veselov-explicit", h=0.1, t_end=1.0, v0=(1, 2, 3, 0, 0, 0)).q[-1].tolist())
from dalembert.kernels import _cache
print(_cache.directory())
"""
COMPILES = "compiling rigid_body.node, once, about "


def run(code=RUN, **environment):
    """(lines of stdout, stderr) of a new process."""
    env = {**os.environ, "DALEMBERT_QUIET": "", **{k: str(v) for k, v in environment.items() if v is not None}}
    env = {k: v for k, v in env.items() if environment.get(k, v) is not None}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr


def test_without_a_writable_directory_the_numbers_are_the_same_and_that_is_said_once(tmp_path):
    """A file where the cache folder should be: nothing can be written there, not even by root."""
    blocked = tmp_path / "file"
    blocked.write_text("")
    (kept, folder), said = run(DALEMBERT_CACHE_DIR=tmp_path / "cache")
    (uncached, nowhere), complaint = run(DALEMBERT_CACHE_DIR=blocked)
    assert kept == uncached
    assert folder.startswith(str(tmp_path))
    assert nowhere == "None"
    assert any((tmp_path / "cache").rglob("*.nbi"))
    assert COMPILES in said
    assert complaint.count("cannot be written") == 1


def test_what_is_compiled_is_said_the_first_time_only(tmp_path):
    _, first = run(DALEMBERT_CACHE_DIR=tmp_path)
    _, second = run(DALEMBERT_CACHE_DIR=tmp_path)
    _, quiet = run(DALEMBERT_CACHE_DIR=tmp_path / "other", DALEMBERT_QUIET="1")
    assert COMPILES in first
    assert second == quiet == ""


def test_ctrl_c_ends_a_compilation(tmp_path):
    env = {**os.environ, "DALEMBERT_CACHE_DIR": str(tmp_path), "DALEMBERT_QUIET": ""}
    code = RUN.replace("moser-veselov-explicit", "cayley")
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=env,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a suite in the background ignores Ctrl-C, and so would this
    )
    assert process.stderr is not None
    assert "compiling" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    began = time.perf_counter()
    _, said = process.communicate(timeout=120)
    assert process.returncode != 0 and "KeyboardInterrupt" in said
    assert time.perf_counter() - began < 60.0
    (kept, _), _ = run(code, DALEMBERT_CACHE_DIR=tmp_path)  # and leaves nothing behind that is half done
    assert len(kept) > 10


def test_a_release_brings_optimised_code_which_is_not_compiled_again(tmp_path):
    """Entries made for any processor of the family; a processor chosen by hand is not asked to run them."""
    if not {"avx2", "fma"} <= {name for name, has in _stored_features().items() if has}:
        pytest.skip("entries are made for processors with AVX2 and FMA")
    stored = tmp_path / "stored"
    env = {"DALEMBERT_STORED": stored, "NUMBA_CPU_NAME": None}
    (made, _), said = run(DALEMBERT_CACHE_DIR=tmp_path / "a", DALEMBERT_STORE_INTO=stored, **env)
    assert "compiling" in said and any(stored.iterdir())
    (read, _), quiet = run(DALEMBERT_CACHE_DIR=tmp_path / "b", **env)
    assert quiet == ""
    np.testing.assert_allclose(ast.literal_eval(read), ast.literal_eval(made), rtol=1e-13)
    _, loud = run(DALEMBERT_CACHE_DIR=tmp_path / "c", DALEMBERT_STORED=stored, NUMBA_CPU_NAME="generic")
    assert "compiling" in loud


def _stored_features():
    from llvmlite import binding

    return binding.get_host_cpu_features()


def test_other_users_of_numba_keep_their_cache():
    before = numba.config.CACHE_DIR

    @_jit.kernel
    def f(x):
        return x + 1.0

    assert before == numba.config.CACHE_DIR
    assert f(1.0) == 2.0


def _package(tmp_path):
    """a imports b, c stands alone."""
    folder = tmp_path / "dalembert" / "kernels"
    folder.mkdir(parents=True)
    (folder / "a.py").write_text("from dalembert.kernels import b\n")
    (folder / "b.py").write_text("x = 1\n")
    (folder / "c.py").write_text("y = 1\n")
    return folder


def _hashes(folder):
    for cached in (_cache._imports, _cache.below, _cache.sources_hash):
        cached.cache_clear()
    return {name: _cache.sources_hash(folder / f"{name}.py", folder.parent.parent) for name in "abc"}


def test_an_edit_concerns_what_imports_it_and_nothing_else(tmp_path):
    folder = _package(tmp_path)
    before = _hashes(folder)
    assert _hashes(folder) == before
    (folder / "b.py").write_text("x = 2\n")
    after = _hashes(folder)
    assert before["c"] == after["c"]
    assert before["a"] != after["a"] and before["b"] != after["b"]


@pytest.mark.parametrize("module", ["kernels/tree/variational/step.py", "kernels/lcp/lemke.py", "steppers/rigid_body/cayley.py"])
def test_the_sources_below_a_kernel_are_found(module):
    """Against Python itself: modules of the package that are loaded once the file is imported alone."""
    root = _cache.sources_root()
    name = "dalembert." + module.removesuffix(".py").replace("/", ".")
    code = (
        f"import sys, {name}\n"
        "print('\\n'.join(m.__file__ for n, m in sys.modules.items() if n.startswith('dalembert.kernels') and getattr(m, '__file__', 0)))"
    )
    lines, _ = run(code)
    loaded = {Path(line) for line in lines if Path(line).name != "__init__.py"}
    assert loaded <= set(_cache.below(root / "dalembert" / module, root))


def test_listing_and_importing_compile_nothing():
    code = (
        "import dalembert as dal; dal.steppers(); import dalembert.kernels.loop as l; "
        "print(sum(len(s.step.signatures) for s in dal.steppers() if not s.engine), len(l.run.signatures))"
    )
    assert run(code)[0][0].split() == ["0", "0"]


@_jit.kernel
def _add(a, i, x):
    a[i] += x


@_jit.kernel
def _adds(a):
    _add(a, 0, 1.0)
    _add(a, 1, 2.0)
    _add(a, 2, 3.0)


def test_constants_in_the_source_do_not_make_versions():
    _adds._keep = lambda dispatcher: None  # compiled here, whatever the cache has
    a = np.zeros(3)
    _adds(a)
    assert a.tolist() == [1.0, 2.0, 3.0]
    assert len(_add._inner) == 1
    assert not _add.signatures, "what only kernels call has no entry for Python"


def test_a_plain_function_of_numba_may_call_a_kernel():
    @numba.njit
    def user(a):
        _adds(a)
        return a.sum()

    assert user(np.zeros(3)) == 6.0


@_jit.far(_jit.BOOL(_jit.ARRAY, _jit.INT))
def _rare(a, i):
    """Twice the number."""
    a[i] *= 2.0
    return a[i] > 3.0


@_jit.kernel
def _sometimes(a, wanted):
    return _rare(a, 1) if wanted else False


def test_a_far_kernel_is_compiled_when_it_is_first_called():
    a = np.array([0.0, 1.0])
    assert not _sometimes(a, False)
    assert not _rare.dispatcher.signatures
    assert [_sometimes(a, True), _sometimes(a, True)] == [False, True]
    assert a[1] == 4.0 and len(_rare.dispatcher.signatures) == 1
    assert _rare(a, 0) is False, "from Python too"


def test_a_far_kernel_that_cannot_be_compiled_is_an_error_in_python():
    @_jit.far(_jit.INT(_jit.ARRAY))
    def wrong(a):
        return a.no_such_thing

    @_jit.kernel
    def calls(a):
        return wrong(a)

    assert calls(np.zeros(1)) == 0
    with pytest.raises(numba.core.errors.TypingError, match="no_such_thing"):
        _far.raise_pending()
    _far.raise_pending()  # once


def test_threads_may_ask_for_one_kernel_at_once():
    @_jit.kernel
    def f(a):
        a[0] += 1.0

    found, errors = [], []

    def ask():
        try:
            found.append(_jit.first_class(f, _jit.VOID(_jit.ARRAY)))
        except RuntimeError as error:
            errors.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors and len(set(map(id, found))) == 1


def test_no_name_of_a_layout_is_given_twice():
    """Two places under one name overlap without a word."""
    for path in Path(variational_layout.__file__).parent.parent.rglob("*layout*.py"):
        names = [
            t.id
            for node in ast.parse(path.read_text()).body
            if isinstance(node, ast.Assign)
            for t in node.targets
            if isinstance(t, ast.Name)
        ]
        assert len(names) == len(set(names)), path


def _sixes(x, y):
    for r in range(x.shape[0] // 36):
        k = 36 * (r & _jit.NOT_NEGATIVE)
        for p in range(6):
            store6(y, k + 6 * p, axpy6(-x[k + p], load6(x, k + 6), load6(y, k + 6 * p)))


def test_a_wide_kernel_works_on_vectors_without_a_loop(monkeypatch):
    """Six sums are two or three instructions; the numbers are those of a kernel that takes them one by one."""
    monkeypatch.setattr(_cache, "directory", lambda: None)  # what comes from a file cannot be looked at
    x, start = np.random.default_rng(0).normal(size=(2, 72))
    texts, results = [], []
    for decorate in (_jit.kernel, _jit.wide):
        function = decorate(_sixes)
        y = start.copy()
        function(x, y)
        texts.append(next(iter(function.inspect_llvm().values())))
        results.append(y)
    assert " x double>" in texts[1]
    assert " x double>" not in texts[0]
    np.testing.assert_allclose(results[0], results[1], rtol=1e-14)  # contractions may differ
