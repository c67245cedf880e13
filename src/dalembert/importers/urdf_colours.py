"""Colours of URDF links: of each <visual> that of its material, given there or by the name of a <material> of the robot."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from dalembert.errors import ModelError
from dalembert.importers.notes import Notes
from dalembert.importers.urdf_tree import Tree, floats

Colour = tuple[float, ...]
UNNAMED: Colour = (0.5, 0.5, 0.5, 1.0)  # MuJoCo's, of geometry without a colour


class Colours:
    """Red, green, blue, opacity, from 0 to 1."""

    def __init__(self, tree: Tree, notes: Notes):
        self.tree, self.notes = tree, notes
        self.shared = {e.get("name", ""): e for e in tree.materials}

    def of_visual(self, link: str, visual: ET.Element) -> Colour | None:
        """None where no colour is named, or one that is none."""
        material = visual.find("material")
        if material is None:
            return None
        own = material.find("color")
        colour = own if own is not None else self.shared.get(material.get("name", ""), material).find("color")
        if colour is None:
            return None
        try:
            found = floats(colour, "rgba", 4, UNNAMED, link)
        except ModelError:
            self.notes.add("colours that are not four numbers", f"{link} ({colour.get('rgba', '')[:50]})")
            return None
        return tuple(min(max(x, 0.0), 1.0) for x in found)

    def of_link(self, link: str) -> Colour:
        """That of the first <visual> that has one: what geometry for contacts is drawn in, where it is drawn."""
        found = (self.of_visual(link, e) for e in self.tree.links[link].findall("visual"))
        return next((colour for colour in found if colour is not None), UNNAMED)
