"""`dalembert report`, and pages that other commands write."""


def test_a_saved_run_becomes_a_page(call, tmp_path):
    call("run", "free-body", "--t-end", "1", "--out", "run.h5")
    out = call("report", "run.h5", "-o", "report.html").output
    assert "page: report.html (0." in out and "MB)" in out
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>") and "<h1>free-body</h1>" in text
    call("report", "run.h5")
    assert (tmp_path / "run.html").read_text(encoding="utf-8") == text


def test_mistakes_are_told_before_anything_is_read(call):
    assert "expected one of .html" in call("report", "missing.h5", "-o", "a.pdf", code=2).stderr
    assert "missing.h5" in call("report", "missing.h5", code=2).stderr


def test_a_comparison_of_one_body_becomes_a_page(call, tmp_path):
    out = call("compare", "free-body", "-m", "cayley:0.05,tln:0.05", "-t", "1", "-o", "c.html").output
    assert "page: c.html" in out
    assert "Comparison of methods" in (tmp_path / "c.html").read_text(encoding="utf-8")


def test_a_sweep_becomes_a_page(call, tmp_path):
    (tmp_path / "sweep.toml").write_text(
        'model = "heavy-top"\nt_end = 0.05\nobserve = ["energy"]\n[samples]\nn = 4\n[samples.ranges]\n"rotor.mass" = [0.9, 1.1]\n'
    )
    out = call("sweep", "sweep.toml", "-o", "study.html").output
    assert "page: study.html" in out and "not saved" in out
    out = call("sweep", "sweep.toml", "-o", "study.h5", "--page", "other.html").output
    assert "page: other.html" in out and "saved to study.h5" in out
    assert all("<h2>How the samples ended</h2>" in (tmp_path / name).read_text(encoding="utf-8") for name in ("study.html", "other.html"))
    assert "expected one of .html" in call("sweep", "sweep.toml", "--page", "a.png", code=2).stderr
