"""PyVista, if it is there and can draw without a screen.

VTK looks for a screen first and says so on the error stream before it falls back to drawing in memory; that line is kept back. PyVista's
own settings are neither read nor changed: windows of this package have a theme of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from dalembert.errors import UnsupportedError


class CannotRender(UnsupportedError):
    """There is no PyVista, or it cannot draw here."""


def load() -> Any:
    """The module pyvista; CannotRender if it is missing or draws nothing."""
    try:
        import pyvista
    except ImportError as problem:
        raise CannotRender(f"PyVista is not installed ({problem}); pip install dalembert[view].") from None
    reason = _problem()
    if reason:
        raise CannotRender(f"PyVista cannot draw on this machine: {reason}.")
    return pyvista


@contextmanager
def quiet() -> Iterator[None]:
    """Without lines of VTK on the error stream."""
    from vtkmodules.vtkCommonCore import vtkLogger

    before = vtkLogger.GetCurrentVerbosityCutoff()
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_OFF)
    try:
        yield
    finally:
        vtkLogger.SetStderrVerbosity(before)


def new_plotter(size: tuple[int, int]) -> Any:
    """A window in memory, black, without lights and smoothing."""
    import pyvista

    with quiet():
        plotter: Any = pyvista.Plotter(off_screen=True, window_size=list(size), lighting=None, theme=pyvista.themes.Theme())
        plotter.disable_anti_aliasing()
        plotter.render_window.SetMultiSamples(0)
        plotter.set_background("black")
    return plotter


@lru_cache(maxsize=1)
def _problem() -> str:
    """'' if a triangle that is drawn is seen."""
    import pyvista

    try:
        plotter = new_plotter((16, 16))
        plotter.add_mesh(pyvista.Plane(), color="white", lighting=False)
        plotter.view_xy()
        with quiet():
            seen = plotter.screenshot(None, return_img=True)
        plotter.close()
    except (RuntimeError, OSError, ValueError, AttributeError) as problem:
        return str(problem) or type(problem).__name__
    return "" if seen.max() > 128 else "what was drawn is not seen"
