"""`dalembert sweep`: studies from files."""

import numpy as np
import pytest

import dalembert as dal

STUDY = """
model = "heavy-top"
t_end = 0.2
save = "study.h5"
observe = ["energy", "statistics v"]
[samples]
design = "{design}"
n = {n}
seed = 3
[samples.ranges]
"rotor.mass" = [0.9, 1.1]
"""


def names():
    return dal.scenes.find("heavy-top").model().value_names


def told(tmp_path, text):
    path = tmp_path / "sweep.toml"
    body = next(name for name in names() if name.endswith(".mass"))
    path.write_text(text.replace('"rotor.mass"', f'"{body}"'))
    return path


@pytest.mark.parametrize(
    ("design", "n", "count"), [("sobol", 8, 8), ("latin-hypercube", 5, 5), ("halton", 3, 3), ("random", 4, 4), ("grid", 6, 6)]
)
def test_a_study_from_a_file(call, tmp_path, design, n, count):
    path = told(tmp_path, STUDY.format(design=design, n=n))
    found = call("sweep", str(path), "--table", str(tmp_path / "rows.csv"))
    assert f"{count} samples: {count} ok" in found.output and "energy.energy_change: median" in found.output
    study = dal.load_study(tmp_path / "study.h5")
    assert study.ok.all() and len(study) == count
    scene = dal.scenes.find("heavy-top")
    run = scene.simulate(t_end=0.2)
    body = study.samples.names[0]
    again = dal.simulate(scene.model().with_values(study[0].sample), scene.stepper, h=scene.h, t_end=0.2, q0=scene.q0, v0=scene.v0)
    np.testing.assert_array_equal(study.v[0], again.v[-1])  # from the start of the scene
    assert body.endswith(".mass") and (study.v[0] != run.v[-1]).any()
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == count + 1
    assert "saved to" in call("sweep", str(path)).output  # again: nothing is run


def test_samples_from_a_table(call, tmp_path):
    body = next(name for name in names() if name.endswith(".mass"))
    (tmp_path / "samples.csv").write_text(f"{body}\n1.0\n1.5\n")
    path = tmp_path / "sweep.toml"
    path.write_text('model = "heavy-top"\nt_end = 0.1\n[samples]\ncsv = "samples.csv"\n')
    found = call("sweep", str(path))
    assert "2 samples: 2 ok" in found.output


@pytest.mark.parametrize(
    "text",
    [
        "nonsense",
        'model = "heavy-top"',
        '[samples]\ndesign = "sobol"',
        STUDY.format(design="magic", n=3),
        STUDY.format(design="sobol", n=0),
        STUDY.format(design="grid", n=-1),
        STUDY.format(design="sobol", n=3).replace("[0.9, 1.1]", '"x"'),
        STUDY.format(design="sobol", n=3).replace("[0.9, 1.1]", "{cauchy = [0, 1]}"),
        STUDY.format(design="sobol", n=3).replace("t_end", "t_ende"),
        STUDY.format(design="sobol", n=3).replace('"rotor.mass"', '"wheel.mass"'),
        STUDY.format(design="sobol", n=3).replace('"energy"', '"magic"'),
        'model = "nowhere"\n[samples]\ncsv = "no.csv"\n',
    ],
)
def test_a_file_that_tells_no_study_is_one_sentence(call, tmp_path, text):
    found = call("sweep", told(tmp_path, text), code=2)
    assert "error:" in found.output and "Traceback" not in found.output


def test_a_file_that_is_not_there(call, tmp_path):
    assert "no.toml" in call("sweep", tmp_path / "no.toml", code=2).output


@pytest.mark.parametrize(
    "text",
    [
        '[samples]\ndesign="grid"\nn=100000\n[samples.ranges]\n"q0.shoulder"=[0,1]\n"q0.elbow"=[0,1]\n',
        'observe=3\n[samples]\nn=4\n[samples.ranges]\n"q0.shoulder"=[0,1]\n',
        'options=3\n[samples]\nn=4\n[samples.ranges]\n"q0.shoulder"=[0,1]\n',
        'save=3\n[samples]\nn=4\n[samples.ranges]\n"q0.shoulder"=[0,1]\n',
        "[samples]\nranges=4\n",
        '[samples]\nn=4\nseed=-1\n[samples.ranges]\n"q0.shoulder"=[0,1]\n',
    ],
)
def test_entries_of_the_wrong_kind_are_named(tmp_path, text):
    from dalembert.ensembles.sweep import read_sweep
    from dalembert.errors import OptionError

    file = tmp_path / "study.toml"
    file.write_text('model="double-pendulum"\n' + text)
    with pytest.raises(OptionError):
        read_sweep(file)
