"""Files that tell of a study: the one of the documentation runs as it is; wrong ones are refused in one sentence."""

import re
from pathlib import Path

import pytest

import dalembert as dal
from dalembert.ensembles.sweep import read_sweep

HEAD = 'model = "double-pendulum"\nstepper = "midpoint"\nh = 0.01\nt_end = 0.1\n'
SAMPLES = '[samples]\ndesign = "sobol"\nn = 8\nseed = 1\n[samples.ranges]\n"q0.upper" = [-1.0, 1.0]\n'


def written(folder, text):
    path = folder / "sweep.toml"
    path.write_text(text)
    (folder / "text.csv").write_text("q0.upper\n1\nx\n")
    (folder / "empty.csv").write_text("")
    (folder / "good.csv").write_text("q0.upper,m1\n0.1,1.0\n0.2,1.1\n")
    return path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("model = \n", "no TOML"),
        ("h = 0.1\n" + SAMPLES, "no entry 'model'"),
        (HEAD, "no entry 'samples'"),
        ("model = 3\n" + SAMPLES, "model is 3; expected text"),
        (HEAD.replace("stepper", "steper") + SAMPLES, "'steper'; did you mean 'stepper'"),
        (HEAD + "samples = 3\n", r"expected a table \[samples\]"),
        (HEAD + SAMPLES.replace("design", "desgn"), "'desgn'; did you mean 'design'"),
        (HEAD + SAMPLES.replace("sobol", "sobl"), "did you mean 'sobol'"),
        (HEAD + SAMPLES.replace("n = 8", "n = 0"), "n is 0"),
        (HEAD + SAMPLES.replace("n = 8", 'n = "8"'), "n is '8'"),
        (HEAD + SAMPLES.replace("seed = 1", "seed = -1"), "seed = -1"),
        (HEAD + SAMPLES.replace("[-1.0, 1.0]", "[1.0]"), r"is \[1.0\]"),
        (HEAD + SAMPLES.replace("[-1.0, 1.0]", '"x"'), "is 'x'"),
        (HEAD + SAMPLES.replace("[-1.0, 1.0]", "{gauss = [1, 2]}"), "gauss"),
        (HEAD + SAMPLES.replace("[-1.0, 1.0]", "{normal = [1, -2]}"), "deviation > 0"),
        (HEAD + SAMPLES.replace("[-1.0, 1.0]", '{normal = ["a", "b"]}'), "deviation > 0"),
        (HEAD + SAMPLES.replace("[-1.0, 1.0]", "{lognormal = [-1, 0.1]}"), "median > 0"),
        (HEAD + "[samples]\nn = 8\n", "ranges"),
        (HEAD + '[samples]\ncsv = "none.csv"\n', "No such file"),
        (HEAD + '[samples]\ncsv = "text.csv"\n', "could not convert"),
        (HEAD + '[samples]\ncsv = "empty.csv"\n', "is empty"),
        (HEAD + '[samples]\ncsv = "good.csv"\nn = 3\n', r"csv and \['n'\]"),
        (HEAD + 'observe = ["enrgy"]\n' + SAMPLES, "did you mean 'energy'"),
        (HEAD + SAMPLES + "[options]\nworkers = 3\n", "'workers' is none of them"),
        (HEAD + SAMPLES + "[options]\nh = 3\n", "'h' is none of them"),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence(tmp_path, text, said):
    with pytest.raises(dal.DalembertError, match=said) as caught:
        read_sweep(written(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_a_table_of_numbers_is_samples(tmp_path):
    found = read_sweep(written(tmp_path, HEAD + '[samples]\ncsv = "good.csv"\n'))["samples"]
    assert len(found) == 2 and found[1] == {"q0.upper": 0.2, "m1": 1.1}


def test_the_file_of_the_documentation_runs_as_it_is(tmp_path):
    """But for its size: fewer samples of less time."""
    page = (Path(__file__).parents[2] / "docs" / "ensembles.md").read_text()
    [text] = re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL)
    told = read_sweep(written(tmp_path, text.replace("n = 1024", "n = 16").replace("t_end = 10.0", "t_end = 0.1")))
    scene = dal.scenes.find(told.pop("model"))
    del told["save"]
    study = dal.ensemble(scene.model(), **told)
    assert len(study) == 16 and study.ok.all() and {"energy.energy_change", "q.mean"} <= set(study.observed)
