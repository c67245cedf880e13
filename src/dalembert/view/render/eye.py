"""An eye: a window in memory that holds triangles, which are moved rather than made anew, and tells colours and depths of what is seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.view.meshes import Mesh
from dalembert.view.render.backend import new_plotter, quiet
from dalembert.view.render.camera import Camera

CREASE = 32.0  # degrees: edges that are sharper stay sharp
LIGHTS = ((1.0, 0.82), (0.0, 0.42))  # of key and fill: only the key glints, brightness
MATTER = (0.40, 0.80, 0.22, 28.0)  # ambient, diffuse, specular light, and how sharp the glint is


class Surface(NamedTuple):
    """Triangles of a body (-1: the world) that have one opacity, as PyVista has them."""

    body: int
    data: Any
    opacity: float


class Eye:
    """size: width and height in pixels. `depth` of `shot` is inf where nothing is seen."""

    def __init__(self, size: tuple[int, int]):
        self.size, self.plotter = size, new_plotter(size)
        self.bodies: list[tuple[int, Any]] = []
        self.see_through = False
        self.replaced: Any = None

    def close(self) -> None:
        """Give the window back."""
        self.plotter.close()

    def add_machine(self, surfaces: Sequence[Surface], lit: bool = True) -> None:
        """One actor for each surface; what is seen through comes last."""
        for found in sorted(surfaces, key=lambda x: -x.opacity):
            self.bodies.append((found.body, self.add(found.data, found.opacity, lit)))

    def add(self, data: Any, opacity: float = 1.0, lit: bool = True) -> Any:
        """Triangles with a colour each ("rgb")."""
        from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper

        self.see_through |= opacity < 1.0
        mapper, actor = vtkPolyDataMapper(), vtkActor()
        mapper.SetInputData(data)
        mapper.SetColorModeToDirectScalars()
        mapper.SetScalarModeToUseCellFieldData()
        mapper.SelectColorArray("rgb")
        actor.SetMapper(mapper)
        look = actor.GetProperty()
        look.SetInterpolationToPhong()
        look.SetLighting(lit)
        look.SetOpacity(opacity)
        for put, value in zip((look.SetAmbient, look.SetDiffuse, look.SetSpecular, look.SetSpecularPower), MATTER, strict=True):
            put(value)
        self.plotter.renderer.AddActor(actor)
        return actor

    def replace(self, data: Any) -> None:
        """Triangles in the place of those that were here before."""
        if self.replaced is not None:
            self.plotter.renderer.RemoveActor(self.replaced)
        self.replaced = self.add(data)

    def add_lights(self, directions: Sequence[Array]) -> None:
        """Key and fill, from far away."""
        from pyvista import Light

        for (glint, brightness), towards in zip(LIGHTS, directions, strict=True):
            light = Light(position=tuple(towards), focal_point=(0, 0, 0), intensity=brightness, light_type="scene light", color="white")
            light.specular_color = "white" if glint else "black"
            self.plotter.add_light(light)

    def occlude(self, radius: float) -> None:
        """Corners and gaps are darker: ambient occlusion within a radius, m."""
        with quiet():
            self.plotter.enable_ssao(radius=radius, bias=0.02 * radius, kernel_size=24, blur=True)

    def place(self, poses: Array) -> None:
        """Move the bodies to poses (bodies, 4, 4)."""
        from vtkmodules.vtkCommonMath import vtkMatrix4x4

        for body, actor in self.bodies:
            if body >= 0:
                matrix = vtkMatrix4x4()
                matrix.DeepCopy(poses[body].ravel())
                actor.SetUserMatrix(matrix)

    def look(self, camera: Camera, near: float, far: float, half: float | None = None) -> None:
        """Look from a camera at what is between two depths; half: along parallel rays, at so much above and below the middle, m."""
        c = self.plotter.camera
        c.position, c.focal_point, c.up = tuple(camera.position), tuple(camera.focus), tuple(camera.up)
        c.parallel_projection = half is not None
        if half is not None:
            c.parallel_scale = half
        else:
            c.view_angle = camera.angle
        self.near, self.far, self.parallel = near, far, half is not None

    def shot(self, white: bool = False) -> tuple[Array, Array]:
        """Colours (height, width, 3), uint8, on black or white, and depth (height, width) in m, float32, of what is not seen through."""
        self.plotter.set_background("white" if white else "black")
        with quiet():
            self.plotter.camera.clipping_range = (self.near, self.far)
            self.plotter.render_window.Render()
            colours = self.plotter.screenshot(None, return_img=True)
        return colours, self._depth()

    def _depth(self) -> Array:
        from vtkmodules.util.numpy_support import vtk_to_numpy
        from vtkmodules.vtkCommonCore import vtkFloatArray

        values = vtkFloatArray()
        self.plotter.render_window.GetZbufferData(0, 0, self.size[0] - 1, self.size[1] - 1, values)
        z = vtk_to_numpy(values).reshape(self.size[::-1])[::-1]
        near, far = self.near, self.far
        depth = near + z * (far - near) if self.parallel else near * far / (far - z * (far - near))
        return np.where(z < 1.0, depth, np.inf).astype(np.float32)


def surfaces_of(meshes: Sequence[Mesh]) -> list[Surface]:
    """One surface for all meshes of a body that have one opacity."""
    found: dict[tuple[int, float], list[Mesh]] = {}
    for mesh in meshes:
        if len(mesh.triangles):
            found.setdefault((mesh.body, mesh.opacity), []).append(mesh)
    return [Surface(body, surface(mine), opacity) for (body, opacity), mine in found.items()]


def surface(meshes: Sequence[Mesh]) -> Any:
    """Triangles of some meshes as one, with normals that are smooth but for creases."""
    from pyvista import PolyData

    starts = np.cumsum([0, *(len(m.points) for m in meshes)])
    points = np.concatenate([m.points for m in meshes])
    triangles = np.concatenate([m.triangles + k for m, k in zip(meshes, starts, strict=False)])
    data = PolyData.from_regular_faces(points, triangles)
    data.cell_data["rgb"] = np.round(255.0 * np.clip(np.concatenate([m.colours for m in meshes]), 0.0, 1.0)).astype(np.uint8)
    return data.compute_normals(cell_normals=False, split_vertices=True, feature_angle=CREASE, consistent_normals=False)
