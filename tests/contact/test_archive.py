"""Archives of problems of steps: what is kept, FCLIB's layout, bit for bit, and that a run never fails for them."""

import h5py
import numpy as np
import pytest
from contact_laws import H, add_box, floor
from scipy import sparse

import dalembert as dal
from dalembert.contact.problem import CONE
from dalembert.contact.solver import METHODS, SolverOptions
from dalembert.contact.step_samples import heap, mixed
from dalembert.errors import ArchiveError, OptionError, UnknownNameError, UnsupportedError


def tumbling():
    """Three boxes on a floor, one on a hinge with a limit: joints, limits and contacts."""
    m = floor()
    m.name = "tumbling"
    for k in range(3):
        add_box(m, f"box{k}", (0.21 * k, 0.0, 0.12), quat=(np.cos(0.2 * k), np.sin(0.2 * k), 0.0, 0.0))
    add_box(m, "flap", (0.0, 0.5, 0.4))
    m.add_joint("hinge", "revolute", "world", "flap", anchor=(0.0, 0.7, 0.4), axis=(1, 0, 0), limits=(-0.3, 0.3), friction=0.1)
    return m


def run(model, t_end=0.5, **options):
    return dal.simulate(model, "spook", h=H, t_end=t_end, **options)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """(trajectory without an archive, with one, its problems)."""
    path = tmp_path_factory.mktemp("kept") / "problems.h5"
    plain, archived = run(tumbling()), run(tumbling(), archive_failures=path, archive_every=3)
    return plain, archived, dal.contact.load_problems(path)


def test_an_archive_changes_nothing_of_the_run(kept):
    plain, archived, problems = kept
    np.testing.assert_array_equal(plain.states, archived.states)
    assert [p.facts["step"] for p in problems if p.facts["solved"]] == [k for k in range(0, 30, 3) if plain.solver["unsolved"][k] == 0]
    assert {p.facts["machine"] for p in problems} == {"tumbling"}


def test_each_problem_is_solved_again_bit_for_bit(kept):
    for p in kept[2]:
        before = p.problem.impulses.copy()
        again = dal.contact.resolve(p)
        assert again.same is True and again.branch == p.facts["branch"] and again.iterations == p.facts["factorisations"]
        np.testing.assert_array_equal(p.problem.impulses, before)  # a problem may be solved as often as one likes


SOLVERS = [
    {"solver": "gauss-seidel"},
    {"solver": "split"},
    {"solver": "direct+split"},
    {"solver": "exact"},
    {"solver": "lemke", "corners": 6},
]
LAWS = [{"law": "cone"}, {"law": "box"}, {"law": "cylinder"}, {"law": "polygon", "sides": 6}]


@pytest.mark.parametrize("solver", SOLVERS + LAWS)
def test_bit_for_bit_holds_for_every_solver(tmp_path, solver):
    run(tumbling(), 0.3, archive_failures=tmp_path / "p.h5", archive_every=6, **solver)
    problems = dal.contact.load_problems(tmp_path / "p.h5")
    assert len(problems) >= 3
    assert all(dal.contact.resolve(p).same for p in problems)


def test_velocities_of_the_run_are_those_of_the_trajectory(kept):
    """x of a step is (omega, v) of the node behind it, of the bodies in their order."""
    _, traj, problems = kept
    for p in problems:
        v = traj.v[p.facts["step"] + 1].reshape(-1, 6)
        turn = traj.poses[p.facts["step"] + 1, :, :3, :3]
        np.testing.assert_allclose(np.einsum("nij,nj->ni", turn, v[:, 3:]), p.x.reshape(-1, 6)[:, 3:], rtol=0, atol=1e-9)


def matrix(group):
    assert group["nz"][0] == -1
    return sparse.csc_matrix((group["x"][()], group["i"][()], group["p"][()]), shape=(group["m"][0], group["n"][0])).toarray()


def test_the_layout_is_that_of_fclib(kept):
    """Read without a word of ours: M v = H r + G l + f + (rows FCLIB has no place for), u = H^T v + w."""
    problems = kept[2]
    p = problems[-1]
    with h5py.File(p.path) as h5:
        group = h5[p.name]
        main, told = group["fclib_global"], group["solution"]
        assert main["spacedim"][()].tolist() == [3] and main["M/m"].dtype == np.int32
        M, Hc, Gj = (matrix(main[k]) for k in "MHG")
        f, w, mu, b = (main["vectors"][k][()] for k in ("f", "w", "mu", "b"))
        v, u, r, l = (told[k][()] for k in "vurl")
        assert main["info/title"][()].decode().startswith("tumbling, step ")
    q = p.problem
    law = np.repeat(q.kind, np.diff(q.first))
    others = q.jacobian().T[:, (law == 1) | (law == 2)] @ p.lam[(law == 1) | (law == 2)]
    np.testing.assert_allclose(M @ v, Hc @ r + Gj @ l + f + others, rtol=0, atol=1e-12 * np.abs(f).max())
    np.testing.assert_allclose(u, Hc.T @ v + w, rtol=0, atol=1e-14)
    assert len(mu) == len(r) // 3 == (q.kind == CONE).sum() > 0 and len(b) == len(l) > 0
    assert (np.hypot(r[1::3], r[2::3]) <= mu * r[::3] + 1e-9).all()
    sigma = q.sigma[law == 0]
    np.testing.assert_allclose(Gj.T @ v + b + sigma * l, 0.0, atol=1e-6)  # the goal of a step


def test_a_problem_of_someone_else_is_read_where_it_is_one_of_rigid_bodies(tmp_path):
    """Ours, without our group: the rigid problem, with the same W and q but for sigma; joints are rows of their own."""
    p = mixed(2, n=6, m=8)
    keep = np.isin(p.kind, (0, 3))
    assert keep.sum() >= 3
    path = tmp_path / "theirs.h5"
    dal.contact.save_problem(path, p)
    with h5py.File(path, "r+") as h5:
        del h5["dalembert_step"]
    theirs = dal.contact.load_problem(path).problem
    rows = np.concatenate([np.arange(p.first[c], p.first[c + 1]) for law in (3, 0) for c in np.flatnonzero(p.kind == law)])
    W, q = p.dense()
    mine = (W - np.diag(p.sigma))[np.ix_(rows, rows)], q[rows]
    for found, expected in zip(theirs.dense(), mine, strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    np.testing.assert_array_equal(theirs.mu[theirs.kind == CONE], p.mu[p.kind == CONE])
    with h5py.File(path, "r+") as h5:
        h5["fclib_global/M/i"][0] = 7
    with pytest.raises(UnsupportedError, match="blocks of 6"):
        dal.contact.load_problem(path)


def test_failures_are_kept_without_being_asked_for_and_counted(tmp_path):
    """One sweep solves little: steps in motion fail, and the report says where they are."""
    path = tmp_path / "p.h5"
    traj = run(tumbling(), 0.5, solver="gauss-seidel", sweeps=1, archive_failures=path, archive_most=4)
    problems, failed = dal.contact.load_problems(path), int(traj.solver["unsolved"].sum())
    assert len(problems) == 4 < failed
    steps = np.flatnonzero(traj.solver["unsolved"])[:4]
    assert [p.facts["step"] for p in problems] == steps.tolist()
    for p in problems:
        assert not p.facts["solved"] and p.facts["residual"] == pytest.approx(traj.solver["residual"][p.facts["step"]])
    text = traj.report().text
    assert f"4 problems of steps archived in {str(path)!r}, 4 of them not solved; {failed - 4} more" in text


def test_a_folder_holds_one_file_per_problem(tmp_path, kept):
    run(tumbling(), archive_failures=tmp_path / "problems", archive_every=3)
    files = sorted((tmp_path / "problems").iterdir())
    found = dal.contact.load_problems(tmp_path / "problems")
    assert [f.stem for f in files] == [p.name for p in found] == [p.name for p in kept[2]]
    np.testing.assert_array_equal(found[-1].lam, kept[2][-1].lam)
    assert dal.contact.load_problem(tmp_path / "problems", "step-000003").facts["step"] == 3
    assert dal.contact.load_problem(files[0]).name == files[0].stem


def test_nothing_that_exists_is_overwritten(tmp_path):
    (tmp_path / "p.h5").write_text("precious")
    traj = run(tumbling(), 0.1, archive_failures=tmp_path / "p.h5", archive_every=2)
    assert (tmp_path / "p.h5").read_text() == "precious"
    assert traj.meta["archive"]["path"] == str(tmp_path / "p-2.h5")
    for name in ("folder", "folder-2"):
        run(tumbling(), 0.1, archive_failures=tmp_path / "folder", archive_every=2)
        assert len(dal.contact.load_problems(tmp_path / name)) == 3


def test_a_run_goes_on_where_nothing_can_be_written(tmp_path, monkeypatch):
    plain = run(tumbling(), 0.2)
    with pytest.warns(UserWarning, match="does not exist"):
        traj = run(tumbling(), 0.2, archive_failures=tmp_path / "no" / "p.h5", archive_every=1)
    np.testing.assert_array_equal(traj.states, plain.states)
    assert "given up: the directory" in traj.report().text

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dalembert.io.atomic.write_all", full)
    with pytest.warns(UserWarning, match="No space left"):
        traj = run(tumbling(), 0.2, archive_failures=tmp_path / "p.h5", archive_every=1)
    np.testing.assert_array_equal(traj.states, plain.states)
    assert traj.meta["archive"]["problems"] == 0


def test_the_report_of_a_saved_run_names_the_archive(tmp_path):
    run(tumbling(), 0.2, archive_failures=tmp_path / "p.h5", archive_every=6, save=tmp_path / "run.h5")
    loaded = dal.load(tmp_path / "run.h5")
    assert "2 problems of steps archived in" in loaded.report().text
    again = dal.resume(tmp_path / "run.h5", 0.3)
    assert again.meta["archive"]["path"] == str(tmp_path / "p-2.h5") and again.meta["archive"]["problems"] == 1
    whole = run(tumbling(), 0.3)
    np.testing.assert_array_equal(whole.states, again.states)


def test_every_needs_a_place():
    with pytest.raises(OptionError, match="archive_failures"):
        run(tumbling(), 0.1, archive_every=2)


def test_what_is_no_archive_is_refused_with_words(tmp_path, kept):
    path = tmp_path / "p.h5"
    path.write_bytes(b"")
    with pytest.raises(ArchiveError, match="is empty"):
        dal.contact.load_problems(path)
    path.write_bytes(b"not at all")
    with pytest.raises(ArchiveError, match="not an HDF5 file"):
        dal.contact.load_problem(path)
    with pytest.raises(ArchiveError, match="does not exist"):
        dal.contact.load_problems(tmp_path / "q.h5")
    dal.contact.save_problem(path, kept[2][-1], overwrite=True)
    with h5py.File(path, "r+") as h5:
        h5["dalembert_step/b"][0] += 1.0
    with pytest.raises(ArchiveError, match="checksum"):
        dal.contact.load_problem(path)
    with h5py.File(path, "r+") as h5:
        del h5["dalembert_step/J"]
    with pytest.raises(ArchiveError, match=r"damaged or incomplete|checksum"):
        dal.contact.load_problem(path)
    whole = kept[2][0].path
    with pytest.raises(OptionError, match="expected the name of one"):
        dal.contact.load_problem(whole)
    with pytest.raises(UnknownNameError, match="step-000003"):
        dal.contact.load_problem(whole, "step-000004")


def test_every_method_is_judged_by_the_one_residual():
    """The judge is recomputed here from W and q, densely."""
    p = mixed(1, n=20, m=20)
    p.mu[:] = 0.0
    found = dal.contact.resolve_by_all(p, corners=8)
    assert [r.method for r in found] == list(METHODS)
    W, q = p.dense()
    low, high = p.bounds()
    cones = p.first[:-1][p.kind == CONE]
    low[cones] = 0.0
    for t in (1, 2):
        low[cones + t], high[cones + t] = 0.0, 0.0
    for r in found:
        D = np.diag(W) - p.sigma
        miss = np.abs(D * (r.lam - np.clip(r.lam - (W @ r.lam + q) / D, low, high)))
        assert r.residual == pytest.approx(miss.max(), rel=0.5, abs=1e-10)  # cones have one D for three rows; solved either way
        assert r.solved
        np.testing.assert_allclose(r.x, found[0].x, rtol=0, atol=1e-5)


def test_methods_that_cannot_say_why_and_wrong_words_are_errors():
    p = heap(0, 2, 2)
    found = {r.method: r for r in dal.contact.resolve_by_all(p)}
    assert found["direct"].solved and found["split"].solved
    assert "cones of friction" in found["lemke"].refused and found["keller"].residual == np.inf
    with pytest.raises(UnsupportedError, match="cones"):
        dal.contact.resolve(p, "lemke")
    with pytest.raises(UnknownNameError, match="gauss-seidel"):
        dal.contact.resolve(p, "gauss-seidl")
    for call in (dal.contact.resolve, dal.contact.resolve_by_all):
        with pytest.raises(UnknownNameError, match="sweeps"):
            call(p, sweps=10)


def test_a_problem_can_be_saved_by_hand(tmp_path):
    p = mixed(4, n=10, m=10)
    dal.contact.save_problem(tmp_path / "mine.h5", p, SolverOptions(law="associated"))
    found = dal.contact.load_problem(tmp_path / "mine.h5")
    assert found.name == "mine" and found.options.law == "associated" and not len(found.lam)
    for name in ("bodies", "kind", "first", "J", "b", "sigma", "mu", "masses", "inverse", "free", "low", "high", "start", "lam"):
        np.testing.assert_array_equal(getattr(found.problem, name), getattr(p, name))
    assert dal.contact.resolve(found).same is None and dal.contact.resolve(found, cold=True).solved


def test_friction_by_direction_is_kept_as_its_solver_sees_it(tmp_path):
    m = floor()
    add_box(m, "box", (0.0, 0.0, 0.1))
    m.add_contact("box", "world", friction=(0.6, 0.2), friction_axis=(1, 0, 0))
    run(m, 0.2, archive_failures=tmp_path / "p.h5", archive_every=2, v0={"box": (0, 0, 0, 1.0, 1.0, 0)})
    problems = dal.contact.load_problems(tmp_path / "p.h5")
    assert problems and all(dal.contact.resolve(p).same for p in problems)


@pytest.mark.parametrize("impact", ["exact", "post-facto"])
def test_steps_with_impacts_are_kept_and_solved_again_too(tmp_path, impact):
    """A ball with restitution bounces: a step has its own problem and that of the impact, one of them is kept."""
    m = floor(friction=0.3, restitution=0.8)
    m.add_body("ball", 1.0, (0.004,) * 3, pose=((0, 0, 0.3), (1, 0, 0, 0)), shapes=[dal.Sphere(0.1, friction=0.3, restitution=0.8)])
    traj = run(m, 1.0, impact=impact, archive_failures=tmp_path / "p.h5", archive_every=1, v0={"ball": (0, 0, 0, 1.0, 0, 0)})
    problems = dal.contact.load_problems(tmp_path / "p.h5")
    assert len(traj.events.rows) >= 2 and len(problems) >= 2
    assert len({p.facts["step"] for p in problems}) == len(problems)
    assert all(dal.contact.resolve(p).same for p in problems)
