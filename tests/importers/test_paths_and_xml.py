"""Files that come from anywhere: no path leaves the allowed directories, no text harms the reader."""

import time

import numpy as np
import pytest

from dalembert.errors import ModelError
from dalembert.importers import xmlguard

WEDGE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
URDF = (
    '<robot name="r"><link name="a"><inertial><mass value="1"/></inertial>'
    '<collision><geometry><mesh filename="{}"/></geometry></collision></link></robot>'
)
MJCF = '<mujoco><asset><mesh name="m" file="{}"/></asset><worldbody><body><joint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>'
INCLUDE = '<mujoco><include file="{}"/></mujoco>'


@pytest.fixture
def tree(tmp_path):
    """secret.obj and secret.xml outside of home/, where models live; home/link leads out of it."""
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "secret.obj").write_text(WEDGE)
    (tmp_path / "secret.xml").write_text("<mujoco/>")
    (home / "inside.obj").write_text(WEDGE)
    (home / "link").symlink_to(tmp_path)
    return home


def model(home, template, name):
    path = home / f"model{'.urdf' if template is URDF else '.xml'}"
    path.write_text(template.format(name))
    return path


@pytest.mark.parametrize("template", [URDF, MJCF, INCLUDE])
@pytest.mark.parametrize(
    "name", ["../secret.{x}", "link/secret.{x}", "{tmp}/secret.{x}", "sub/../../secret.{x}", "file://{tmp}/secret.{x}"]
)
def test_paths_do_not_leave_the_models_directory(load, tree, template, name):
    name = name.format(x="xml" if template is INCLUDE else "obj", tmp=tree.parent)
    path = model(tree, template, name)
    with pytest.raises(ModelError, match="outside of the directories that may be read"):
        load(path)
    load(path, package_dirs=[tree.parent])  # the user allows it


@pytest.mark.parametrize("name", ["package://../secret.obj", "package://home/../../secret.obj", "package://%2e%2e/secret.obj"])
def test_packages_do_not_leave_it_either(load, tree, name):
    with pytest.raises(ModelError, match="outside of the directories"):
        load(model(tree, URDF, name))


def test_a_link_out_of_a_package_is_not_followed(load, tree):
    path = model(tree, URDF, "package://link/secret.obj")
    found = load(path)
    assert found.bodies[0].shapes == () and "link/secret.obj" in found.import_report[1]
    assert len(load(path, package_dirs=[tree.parent]).bodies[0].shapes) == 1


@pytest.mark.parametrize(
    ("mesh", "name"),
    [
        ("ws/arm/meshes/a.obj", "package://arm/meshes/a.obj"),  # the package that holds the file
        ("ws/hand/meshes/deep/a.obj", "package://hand/meshes/deep/a.obj"),  # one beside it
        ("hand/a.obj", "package://hand/a.obj"),
        ("ws/arm/meshes/a.obj", "meshes/a.obj"),
    ],
)
def test_meshes_are_found_on_the_way_up_from_the_urdf(load, tmp_path, mesh, name):
    home = tmp_path / "ws" / "arm" / "robots" / "urdf"
    home.mkdir(parents=True)
    (tmp_path / mesh).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / mesh).write_text(WEDGE)
    assert [s.kind for s in load(model(home, URDF, name)).bodies[0].shapes] == ["mesh"]


def test_the_package_of_a_urdf_may_be_read_with_relative_paths(load, tmp_path):
    home = tmp_path / "arm" / "urdf"
    home.mkdir(parents=True)
    (tmp_path / "arm" / "a.obj").write_text(WEDGE)
    path = model(home, URDF, "../a.obj")
    with pytest.raises(ModelError, match="outside of the directories"):
        load(path)
    (tmp_path / "arm" / "package.xml").write_text("<package/>")
    assert len(load(path).bodies[0].shapes) == 1
    with pytest.raises(ModelError, match="outside of the directories"):
        load(model(home, URDF, "../../b.obj"))


def test_the_way_up_does_not_follow_links_out_of_a_package(load, tmp_path):
    home = tmp_path / "ws" / "arm" / "urdf"
    home.mkdir(parents=True)
    (tmp_path / "secret.obj").write_text(WEDGE)
    (tmp_path / "ws" / "arm" / "out.obj").symlink_to(tmp_path / "secret.obj")
    found = load(model(home, URDF, "package://arm/out.obj"))
    assert found.bodies[0].shapes == () and "out.obj" in found.import_report[1]


@pytest.mark.parametrize("attribute", ["meshdir", "assetdir"])
def test_mesh_directories_do_not_lead_out(load, tree, attribute):
    path = tree / "m.xml"
    path.write_text(MJCF.format("secret.obj").replace("<asset>", f'<compiler {attribute}=".."/><asset>'))
    with pytest.raises(ModelError, match="outside"):
        load(path)


def test_a_text_reads_no_files_unless_it_may(load, tree, monkeypatch):
    monkeypatch.chdir(tree)
    with pytest.raises(ModelError, match="missing"):
        load(MJCF.format("inside.obj"))
    assert load(MJCF.format("inside.obj"), package_dirs=[tree]).nv == 1
    assert load(URDF.format("inside.obj")).import_report[1].startswith("meshes that are missing")


def test_other_schemes_and_directories_are_refused(load, tree):
    for name, words in (("http://x/y.stl", "expected a path"), ("package://x", "NAME/PATH"), ("a" * 5000, "file name")):
        with pytest.raises(ModelError, match=words):
            load(model(tree, URDF, name))
    with pytest.raises(ModelError, match="not a directory"):
        load(model(tree, URDF, "inside.obj"), package_dirs=[tree / "gone"])


def test_elements_with_files_that_we_do_not_know_are_refused(load):
    with pytest.raises(ModelError, match="not supported"):
        load('<mujoco><worldbody><body><geom size="1" file="/etc/hostname"/></body></worldbody></mujoco>')


@pytest.mark.parametrize(
    ("source", "words"), [("gone.urdf", "does not exist"), (".", "is a directory"), ("a\0b", "neither"), (7, "expected a path")]
)
def test_sources_that_are_none(load, source, words):
    with pytest.raises(ModelError, match=words):
        load(source)


BOMB = (
    "<!DOCTYPE r [<!ENTITY a 'lol'>" + "".join(f"<!ENTITY a{i} '{('&a' + str(i - 1 if i else '') + ';') * 10}'>" for i in range(30)) + "]>"
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BOMB + "<robot name='&a29;'/>", "document type or entity"),
        ('<!DOCTYPE r SYSTEM "file:///etc/passwd"><mujoco/>', "document type or entity"),
        ('<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><mujoco model="&x;"/>', "document type or entity"),
        ("<mujoco model='&unknown;'/>", "not well-formed"),
        ("<mujoco><body></mujoco>", "not well-formed"),
        ("<mujoco", "not well-formed"),
        ("<", "not well-formed"),
        ("<sdf/>", "root element is <sdf>"),
        ("<mujoco>" + "<body>" * 501 + "</body>" * 501 + "</mujoco>", "nested deeper"),
        ("<mujoco>" + "<a/>" * (xmlguard.MAX_ELEMENTS + 1) + "</mujoco>", "elements"),
        (f"<mujoco model='{'x' * (xmlguard.MAX_VALUE + 1)}'/>", "characters"),
    ],
)
def test_harmful_and_broken_texts_give_a_clear_error_quickly(load, text, words):
    began = time.process_time()
    with pytest.raises(ModelError, match=words):
        load(text)
    assert time.process_time() - began < 5.0


NOISE = np.random.default_rng(0).bytes(64)


@pytest.mark.parametrize(
    "data",
    [b"", b"\x00\x01\x02", b"\xff\xfe<\x00m", b"<?xml version='1.0' encoding='nope'?><mujoco/>", NOISE],
    ids=["empty", "binary", "utf-16", "encoding", "noise"],
)
def test_files_that_are_no_xml(load, tmp_path, data):
    path = tmp_path / "x.xml"
    path.write_bytes(data)
    with pytest.raises(ModelError, match=r"well-formed|encoding|root"):
        load(path)


def test_huge_files_are_refused_before_they_are_read(load, tmp_path):
    path = tmp_path / "x.xml"
    with path.open("wb") as f:
        f.truncate(xmlguard.MAX_BYTES + 1)
    with pytest.raises(ModelError, match="bytes"):
        load(path)


def test_includes_that_never_end(load, tmp_path):
    (tmp_path / "a.xml").write_text('<mujoco><include file="b.xml"/></mujoco>')
    (tmp_path / "b.xml").write_text('<mujoco><include file="a.xml"/></mujoco>')
    with pytest.raises(ModelError, match="includes itself"):
        load(tmp_path / "a.xml")
    for i in range(12):
        (tmp_path / f"{i}.xml").write_text(f"<mujoco>{f'<include file={chr(34)}{i + 1}.xml{chr(34)}/>' * 2}</mujoco>")
    (tmp_path / "12.xml").write_text("<mujoco/>")
    with pytest.raises(ModelError, match="more than 1000"):
        load(tmp_path / "0.xml")
    (tmp_path / "self.xml").write_text('<mujoco><asset><model name="s" file="self.xml"/></asset></mujoco>')
    with pytest.raises(ModelError, match="includes itself"):
        load(tmp_path / "self.xml")


def test_nothing_is_written_beside_the_model(load, tmp_path, monkeypatch):
    """MuJoCo writes a log file when it warns; we collect its warnings instead."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError):
        load('<mujoco><worldbody><body pos="nan 0 0"><joint/><geom size="1"/></body></worldbody></mujoco>')
    assert list(tmp_path.iterdir()) == []
