"""`dalembert demo`: the main job from end to end: run, judge, compare, draw, write a report."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dalembert.cli import _shell as shell

if TYPE_CHECKING:
    from dalembert.comparison import Comparison
    from dalembert.scenes import Scene

NAME = "demo"
EXAMPLES = shell.examples("dalembert demo --out demo")
SCENES = ("tennis-racket", "lagrange-top-medium")
METHODS = ("cayley", "tln", "quaternion", "euler")
FRAMES = 120


def command(
    out: Annotated[Path, typer.Option("--out", "-o", help="Directory of the report, the runs and the pictures.")] = Path("demo"),
) -> None:
    """Run a tennis racket and a heavy top with four methods, judge and compare them, and write runs, pictures and a report.

    The first call compiles the methods, which takes some ten seconds; later calls load them from the cache.
    """
    from dalembert.errors import OptionError

    began = time.perf_counter()
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"--out {out}: {error.strerror or error}.") from error
    done = [_scene(name, out) for name in SCENES]
    report = out / "report.md"
    report.write_text(_report([chapter for chapter, _ in done]), encoding="utf-8")
    typer.echo(f"\ndone in {time.perf_counter() - began:.1f} s; everything is in {out}/")
    typer.echo(f"runs      {' '.join(f'{scene}-{method}.h5' for scene in SCENES for method in METHODS)}")
    for scene in SCENES:
        typer.echo(f"pictures  {out / scene}.gif {out / scene}.png {out / scene}-comparison.png")
    typer.echo(f"report    {report}")
    for _, verdict in done:
        shell.exit_by(verdict)


def _scene(name: str, out: Path) -> tuple[str, str]:
    """Everything about one scene: its chapter of the report, and the verdict on the first method."""
    from dalembert import scenes
    from dalembert.comparison import compare

    scene = scenes.find(name)
    _say(f"{name}: {scene.summary}")
    _say(f"  running {', '.join(METHODS)}, h = {scene.h:g} s, t = 0 ... {scene.t_end:g} s ...")
    result = compare(scene.model(), [(method, scene.h) for method in METHODS], scene.t_end, scene.q0, scene.v0)
    typer.echo(result.text)
    first = result.trajectories[0]
    verdict = shell.show_report(first)
    for method, traj in zip(METHODS, result.trajectories, strict=True):
        traj.save(out / f"{name}-{method}.h5", overwrite=True)
    _say("  drawing ...")
    first.plot(out / f"{name}.png")
    result.plot(out / f"{name}-comparison.png")
    _say("  animating ...")
    first.animate(out / f"{name}.gif", max_frames=FRAMES)
    return _chapter(scene, result), verdict


def _say(text: str) -> None:
    typer.secho(text, fg=typer.colors.CYAN)


def _chapter(scene: Scene, result: Comparison) -> str:
    name = scene.name
    reports = [f"### {t.meta['method']}\n\n```\n{t.report().text}\n```" for t in result.trajectories]
    return "\n\n".join(
        [
            f"## {name}",
            f"{scene.summary}.",
            f"![{name}]({name}.gif)",
            f"```\n{result.text}\n```",
            f"![comparison of the methods]({name}-comparison.png)",
            f"![{METHODS[0]}]({name}.png)",
            *reports,
        ]
    )


def _report(chapters: list[str]) -> str:
    from dalembert import __version__
    from dalembert.citations import cite

    head = (
        f"# dalembert {__version__}: demonstration\n\n"
        "Two bodies, four methods with the same step. `cayley` and `quaternion` keep the momentum to round-off and bound the energy; "
        "`tln` keeps the energy of the free body and lets the momentum move within O(h^2); `euler`, for comparison, keeps neither."
    )
    return "\n\n".join([head, *chapters, "## Sources", f"```bibtex\n{cite(METHODS)}```"]) + "\n"
