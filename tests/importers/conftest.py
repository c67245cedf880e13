"""Where real models are, and what the judges (MuJoCo for MJCF, Pinocchio for URDF) say about them."""

import importlib.metadata
import importlib.util
import warnings
from pathlib import Path
from types import SimpleNamespace

import mujoco
import numpy as np
import pinocchio
import pytest

from dalembert.importers import ModelImportWarning, load_model

DATA = Path(__file__).parents[1] / "data" / "models"


def _package(name):
    return Path(next(iter(importlib.util.find_spec(name).submodule_search_locations)))


def _places():
    share = Path(importlib.metadata.distribution("example-robot-data").locate_file("cmeel.prefix/share"))
    return SimpleNamespace(
        data=DATA,
        gymnasium=_package("gymnasium") / "envs" / "mujoco" / "assets",
        dm_control=_package("dm_control") / "suite",
        robots=share / "example-robot-data" / "robots",
        share=share,
    )


@pytest.fixture(autouse=True)
def _no_log_file():
    """MuJoCo, called directly, would write MUJOCO_LOG.TXT into the working directory when it warns."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: None)
    yield
    mujoco.set_mju_user_warning(before)


@pytest.fixture(scope="session")
def places():
    """Directories of installed model collections."""
    return _places()


@pytest.fixture
def load():
    """load_model without its warning."""

    def quiet(*args, **kwargs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelImportWarning)
            return load_model(*args, **kwargs)

    return quiet


@pytest.fixture
def mujoco_judge():
    """judge(model, MjModel): poses and energies at random states agree with MuJoCo's to round-off."""

    def judge(model, mj, potential=True, states=4, tol=1e-10):
        mj.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
        data, rng = mujoco.MjData(mj), np.random.default_rng(1)
        place = {b.name: i for i, b in enumerate(model.bodies)}
        assert (model.nv, model.nq) == (mj.nv, mj.nq)
        assert model.total_mass == pytest.approx(mj.body_mass.sum(), rel=1e-12)
        for _ in range(states):
            q, v = model.random(rng), rng.normal(size=model.nv)
            data.qpos[:], data.qvel[:] = model.to_mujoco(q, v)
            mujoco.mj_forward(mj, data)
            back = model.from_mujoco(data.qpos, data.qvel)
            np.testing.assert_allclose(back[0], q, atol=1e-13)
            np.testing.assert_allclose(back[1], v, atol=1e-12)
            poses = model.poses(q)
            for i in range(1, mj.nbody):
                name = mj.body(i).name or f"body{i}"
                body = model.bodies[place[name]]
                assert body.mass == mj.body_mass[i]
                np.testing.assert_allclose(poses[place[name], :3, 3], data.xpos[i], atol=tol, err_msg=name)
                np.testing.assert_allclose(poses[place[name], :3, :3].ravel(), data.xmat[i], atol=tol, err_msg=name)
            assert model.kinetic_energy(q, v) == pytest.approx(data.energy[1], rel=tol)
            if potential:
                scale = max(1.0, float(np.abs(model.total_mass * 9.81)))
                assert model.potential_energy(q) == pytest.approx(data.energy[0], abs=tol * scale)

    return judge


@pytest.fixture
def pinocchio_judge():
    """judge(model, urdf path, floating): poses of all links, masses and energies agree with Pinocchio's to round-off."""

    def judge(model, path, floating, states=4, tol=1e-10):
        root = (pinocchio.JointModelFreeFlyer(),) if floating else ()
        pin = pinocchio.buildModelFromUrdf(str(path), *root)
        data, rng = pin.createData(), np.random.default_rng(2)
        total = pinocchio.computeTotalMass(pin) + (0.0 if floating else pin.inertias[0].mass)
        assert model.nv == pin.nv
        assert model.total_mass == pytest.approx(total, rel=1e-12)
        for k in range(states):
            q, v = model.random(rng), rng.normal(size=model.nv)
            order = list(pin.names) if k % 2 else None  # by our rule, or by the names that Pinocchio gives
            pq, pv = model.to_pinocchio(q, v, order)
            assert pq.shape == (pin.nq,)
            back = model.from_pinocchio(pq, pv, order)
            np.testing.assert_allclose(back[0], q, atol=1e-12)
            np.testing.assert_allclose(back[1], v, atol=1e-12)
            pinocchio.forwardKinematics(pin, data, pq, pv)
            pinocchio.updateFramePlacements(pin, data)
            poses = model.poses(q)
            for i, body in enumerate(model.bodies):
                name = body.name if pin.existFrame(body.name) else "world"
                frame = pin.getFrameId(name, pinocchio.FrameType.BODY)
                np.testing.assert_allclose(poses[i], data.oMf[frame].homogeneous, atol=tol, err_msg=body.name)
            kinetic = pinocchio.computeKineticEnergy(pin, data, pq, pv)
            assert model.kinetic_energy(q, v) == pytest.approx(kinetic, rel=tol)
            if floating:
                scale = model.total_mass * 9.81
                assert model.potential_energy(q) == pytest.approx(pinocchio.computePotentialEnergy(pin, data, pq), abs=tol * scale)

    return judge
