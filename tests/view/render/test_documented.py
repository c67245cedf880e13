"""The page on pictures names every panel, theme and camera that exist."""

from pathlib import Path

from dalembert.view.panels import PANELS
from dalembert.view.render.camera import VIEWS
from dalembert.view.render.themes import THEMES

PAGE = (Path(__file__).parents[3] / "docs" / "pictures.md").read_text(encoding="utf-8")


def test_every_panel_theme_and_camera_is_described():
    assert [name for name in PANELS if f"`{name}`" not in PAGE and f"`{name}:" not in PAGE] == []
    assert [name for name in (*THEMES, *VIEWS) if f'`"{name}"`' not in PAGE] == []
