"""Run as a script: mutate model files and load them, in a process of its own so that a crash or a hang is seen.

python fuzz_worker.py SEED COUNT: prints "ok <models> <refused>", or the first mutant that gives neither a DalembertError nor a sound model.
"""

import json
import random
import sys
import tempfile
import time
import traceback
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np

from dalembert.errors import DalembertError
from dalembert.importers import load_model
from dalembert.model import Model

DATA = Path(__file__).parents[1] / "data" / "models"
SEEDS = ("gripper.xml", "rover.urdf")
SLOW = 20.0  # s for one small file
NASTY = (
    *("nan", "inf", "-inf", "1e308", "-1", "0", "", "1e-320", "1 2 3 4 5 6 7 8 9", "99999999999", "x", "../../../etc/passwd", "/dev/zero"),
    *("true", "0 0 0", "mesh", "free", "ball", "world", "1e30", "-0", "\u221e", "a" * 3000, "0x10", "1,2,3", "&amp;&lt;", "package://a/b"),
)


def flip_bytes(data, rng):
    """A few bytes changed, dropped or repeated."""
    out = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        at, kind = rng.randrange(len(out)), rng.randrange(4)
        if kind == 0:
            out[at] = rng.randrange(256)
        elif kind == 1:
            out[at] ^= 1 << rng.randrange(8)
        elif kind == 2:
            del out[at : at + rng.randint(1, 20)]
        else:
            out[at:at] = out[at : at + rng.randint(1, 40)]
    return bytes(out)


def digits(data, rng):
    """Digits changed: the file stays well-formed and its numbers become strange."""
    out = bytearray(data)
    places = [i for i, c in enumerate(out) if 48 <= c <= 57]
    for i in rng.sample(places, rng.randint(1, 4)):
        out[i] = rng.choice(b"0123456789-.e")
    return bytes(out)


def edit_tree(data, rng):
    """Elements dropped, doubled, moved, renamed; attributes dropped, exchanged, filled with nasty values."""
    root = ET.fromstring(data)
    for _ in range(rng.randint(1, 3)):
        parents = [e for e in root.iter() if len(e)]
        every = list(root.iter())
        parent, e, kind = rng.choice(parents), rng.choice(every), rng.randrange(8)
        child = rng.choice(list(parent))
        if kind == 0:
            parent.remove(child)
        elif kind == 1:
            parent.append(ET.fromstring(ET.tostring(child)))
        elif kind == 2:
            rng.choice(every).append(ET.fromstring(ET.tostring(child)))
        elif kind == 3:
            e.tag = rng.choice([x.tag for x in every])
        elif e.attrib:
            name = rng.choice(list(e.attrib))
            if kind == 4:
                del e.attrib[name]
            elif kind == 5:
                e.set(name, rng.choice([v for x in every for v in x.attrib.values()]))
            else:
                e.set(name, rng.choice(NASTY))
    return ET.tostring(root)


def truncate(data, rng):
    """Cut off anywhere."""
    return data[: rng.randrange(len(data))]


def check(model):
    """A sound model: everything finite, at rest and at a random state, and after a round trip through JSON."""
    rng = np.random.default_rng(0)
    q, v = model.random(rng), rng.normal(size=model.nv)
    for name, value in (
        ("mass", model.total_mass),
        ("neutral", model.neutral()),
        ("poses", model.poses(model.neutral())),
        ("poses", model.poses(q)),
        ("kinetic energy", model.kinetic_energy(q, v)),
        ("potential energy", model.potential_energy(q)),
        ("qpos", np.concatenate(model.to_mujoco(q, v))),
    ):
        if not np.all(np.isfinite(value)):
            raise AssertionError(f"{name} is not finite: {value}")
    text = json.dumps(model.to_dict())
    if json.dumps(Model.from_dict(json.loads(text)).to_dict()) != text:
        raise AssertionError("the model changes when it is saved")


def main(seed, count):
    rng = random.Random(seed)
    warnings.simplefilter("error", RuntimeWarning)
    warnings.simplefilter("ignore", UserWarning)
    sources = {name: (DATA / name).read_bytes() for name in SEEDS}
    models = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        for i in range(count):
            name = SEEDS[i % len(SEEDS)]
            how = rng.choice((flip_bytes, digits, digits, edit_tree, edit_tree, edit_tree, truncate))
            path = Path(folder) / f"{i}{Path(name).suffix}"
            path.write_bytes(how(sources[name], rng))
            print(f"file {i} {how.__name__}", file=sys.stderr, flush=True)
            began = time.process_time()
            try:
                check(load_model(path, floating_base=rng.choice((None, True, False)), package_dirs=[DATA]))
                models += 1
            except DalembertError as error:
                if not str(error):
                    raise AssertionError("an error without words") from None
                refused += 1
            except BaseException:
                traceback.print_exc(file=sys.stdout)
                print(f"mutant {i} ({how.__name__} of {name}):\n{path.read_bytes()[:20000]!r}")
                return 1
            if time.process_time() - began > SLOW:
                print(f"mutant {i} took {time.process_time() - began:.1f} s:\n{path.read_bytes()[:20000]!r}")
                return 1
            path.unlink()
    print(f"ok {models} {refused}")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
