"""Drake, DART and Newton on the scenes of `_contact_peers.py`: functions (scene, setting, h) -> (step, look, version)."""

import importlib.metadata

import numpy as np
from _contact_peers import inertia, velocities, walls

# Drake -----------------------------------------------------------------------------------------------------------------------------------

HYDROELASTIC = 1e8  # Pa: modulus of compliant bodies
HUNT = 0.0  # s/m: dissipation


def by_drake(scene, setting, h):
    """Discrete plant; setting: approximation ("sap", "lagged", "similar", "tamsi"), contact ("point", or "hydroelastic")."""
    from pydrake.geometry import (
        AddCompliantHydroelasticProperties,
        AddContactMaterial,
        AddRigidHydroelasticProperties,
        Box,
        HalfSpace,
        ProximityProperties,
        Sphere,
    )
    from pydrake.math import RigidTransform
    from pydrake.multibody.plant import AddMultibodyPlant, CoulombFriction, MultibodyPlantConfig
    from pydrake.multibody.tree import SpatialInertia, UnitInertia
    from pydrake.systems.analysis import Simulator
    from pydrake.systems.framework import DiagramBuilder

    soft = setting["contact"] == "hydroelastic"
    builder = DiagramBuilder()
    config = MultibodyPlantConfig(
        time_step=h,
        discrete_contact_approximation=setting["approximation"],
        contact_model="hydroelastic_with_fallback" if soft else "point",
    )
    plant, _ = AddMultibodyPlant(config, builder)
    plant.mutable_gravity_field().set_gravity_vector(scene["gravity"])

    def surface(fixed):
        properties = ProximityProperties()
        AddContactMaterial(friction=CoulombFriction(scene["friction"], scene["friction"]), properties=properties)
        if soft and fixed:
            AddRigidHydroelasticProperties(scene["half"], properties)
        elif soft:
            AddCompliantHydroelasticProperties(scene["half"], HYDROELASTIC, properties)
        return properties

    world = plant.world_body()
    if scene["plane"]:
        plant.RegisterCollisionGeometry(world, RigidTransform(), HalfSpace(), "floor", surface(True))
    for k, (place, half) in enumerate(walls(scene)):
        plant.RegisterCollisionGeometry(world, RigidTransform(place), Box(*(2.0 * a for a in half)), f"wall{k}", surface(True))
    size, I = scene["half"], inertia(scene) / scene["mass"]
    shape = Box(2 * size, 2 * size, 2 * size) if scene["kind"] == "box" else Sphere(size)
    mass = SpatialInertia(scene["mass"], np.zeros(3), UnitInertia(I, I, I))
    bodies = [plant.AddRigidBody(f"b{k}", mass) for k in range(len(scene["centres"]))]
    for k, body in enumerate(bodies):
        plant.RegisterCollisionGeometry(body, RigidTransform(), shape, f"g{k}", surface(False))
    plant.Finalize()
    diagram = builder.Build()
    simulator = Simulator(diagram)
    context = plant.GetMyContextFromRoot(simulator.get_mutable_context())
    n = len(bodies)
    q = np.hstack([np.tile([1.0, 0, 0, 0], (n, 1)), np.array(scene["centres"])])
    plant.SetPositions(context, q.reshape(-1))
    plant.SetVelocities(context, np.hstack([np.zeros((n, 3)), velocities(scene)]).reshape(-1))
    simulator.Initialize()

    def step():
        simulator.AdvanceTo(simulator.get_context().get_time() + h)

    def look():
        q, v = plant.GetPositions(context).reshape(n, 7), plant.GetVelocities(context).reshape(n, 6)
        return q[:, 4:].copy(), q[:, :4].copy(), v[:, 3:].copy(), v[:, :3].copy()

    return step, look, importlib.metadata.version("drake")


# DART ------------------------------------------------------------------------------------------------------------------------------------


def by_dart(scene, setting, h):
    """setting: solver ("dantzig", its default, or "nsgs", "fbf": exact cones), detector ("bullet", "ode", "dart"). The floor is a box.

    Its Python bindings leave the greatest number of contacts at 1,000: of larger scenes it solves a part.
    """
    import dartpy as dart

    world = dart.simulation.World()
    world.setGravity(list(scene["gravity"]))
    world.setTimeStep(h)
    solver = world.getConstraintSolver()
    detectors = {"bullet": "BulletCollisionDetector", "ode": "OdeCollisionDetector", "dart": "DARTCollisionDetector"}
    solver.setCollisionDetector(getattr(dart.collision, detectors[setting["detector"]])())
    if setting["solver"] != "dantzig":
        solver.setBoxedLcpSolver(
            {"nsgs": dart.constraint.NsgsFrictionSolver, "fbf": dart.constraint.FbfFrictionSolver}[setting["solver"]]()
        )

    def add(shape, place, mass, fixed):
        skeleton = dart.dynamics.Skeleton()
        made = skeleton.createWeldJointAndBodyNodePair if fixed else skeleton.createFreeJointAndBodyNodePair
        joint, body = made()
        node = body.createShapeNode(shape)
        node.createCollisionAspect()
        node.createDynamicsAspect()
        node.getDynamicsAspect().setFrictionCoeff(scene["friction"])
        node.getDynamicsAspect().setRestitutionCoeff(0.0)
        pose = dart.math.Isometry3()
        pose.set_translation(place)
        if fixed:
            joint.setTransformFromParentBodyNode(pose)
        else:
            body.setInertia(dart.dynamics.Inertia(mass, np.zeros(3), inertia(scene) * np.eye(3)))
            joint.setPositions(dart.dynamics.FreeJoint.convertToPositions(pose))
        world.addSkeleton(skeleton)
        return skeleton, body

    if scene["plane"]:
        add(dart.dynamics.BoxShape([100.0, 100.0, 2.0]), (0, 0, -1.0), 0.0, True)
    for place, half in walls(scene):
        add(dart.dynamics.BoxShape([2.0 * a for a in half]), place, 0.0, True)
    size = scene["half"]
    shape = dart.dynamics.BoxShape([2 * size] * 3) if scene["kind"] == "box" else dart.dynamics.SphereShape(size)
    bodies = []
    for centre, v in zip(scene["centres"], velocities(scene), strict=True):
        skeleton, body = add(shape, centre, scene["mass"], False)
        skeleton.setVelocities(np.concatenate([np.zeros(3), v]))
        bodies.append(body)

    def look():
        poses = [b.getWorldTransform() for b in bodies]
        x = np.array([p.translation() for p in poses])
        q = np.array([(a.w(), a.x(), a.y(), a.z()) for a in (p.quaternion() for p in poses)])
        v, w = np.array([b.getLinearVelocity() for b in bodies]), np.array([b.getAngularVelocity() for b in bodies])
        return x, q, v, w

    return world.step, look, dart.__version__


# Newton ----------------------------------------------------------------------------------------------------------------------------------


def by_newton(scene, setting, h):
    """On the CPU, single precision; setting: solver (class without "Solver"), and arguments of it."""
    import newton
    import warp as wp

    wp.config.quiet = True
    builder = newton.ModelBuilder(gravity=tuple(scene["gravity"]))
    size, box = scene["half"], scene["kind"] == "box"
    volume = 8.0 * size**3 if box else 4.0 / 3.0 * np.pi * size**3
    material = newton.ModelBuilder.ShapeConfig(density=scene["mass"] / volume, mu=scene["friction"], mu_torsional=0.0, mu_rolling=0.0)
    if scene["plane"]:
        builder.add_ground_plane(cfg=material)
    for place, half in walls(scene):
        builder.add_shape_box(-1, xform=wp.transform(place, wp.quat_identity()), hx=half[0], hy=half[1], hz=half[2], cfg=material)
    for centre in scene["centres"]:
        body = builder.add_body(xform=wp.transform(centre, wp.quat_identity()))
        if box:
            builder.add_shape_box(body, hx=size, hy=size, hz=size, cfg=material)
        else:
            builder.add_shape_sphere(body, radius=size, cfg=material)
    model = builder.finalize(device="cpu")
    more = {k: x for k, x in setting.items() if k != "solver"}
    solver = getattr(newton.solvers, f"Solver{setting['solver']}")(model, **more)
    now, after, control = model.state(), model.state(), model.control()
    n = len(scene["centres"])
    twist = np.hstack([velocities(scene), np.zeros((n, 3))]).astype(np.float32)
    now.body_qd.assign(twist)
    if model.joint_qd is not None and model.joint_qd.shape[0] == 6 * n:
        now.joint_qd.assign(twist.reshape(-1))
    states = [now, after]

    def step():
        states[0].clear_forces()
        contacts = model.collide(states[0])
        solver.step(states[0], states[1], control, contacts, h)
        states.reverse()

    def look():
        pose, rate = states[0].body_q.numpy().astype(float), states[0].body_qd.numpy().astype(float)
        return pose[:, :3], pose[:, [6, 3, 4, 5]], rate[:, :3], rate[:, 3:]

    return step, look, newton.__version__
