"""What moves joints from outside: inputs of motors and functions of drives, and the known forces of torque motors.

targets = (inputs of motors, f(t) of drives, last rates of rotors),  rates = (0, f'(t), 0);   force of a torque motor: clip(gear u) along its coordinate
"""

from dalembert.kernels._jit import call_at, kernel
from dalembert.kernels.bodies.layout import (
    AT_DRIVES,
    AT_JOINTS,
    AT_MOTORS,
    BODY_A,
    BODY_B,
    DRIVE_SIZE,
    DRIVES,
    FUNCTION,
    JOINT_SIZE,
    MOTOR_GEAR,
    MOTOR_GREATEST,
    MOTOR_JOINT,
    MOTOR_LEAST,
    MOTOR_MEASURE,
    MOTOR_SIZE,
    MOTORS,
    PIECES,
    TABLE,
)
from dalembert.kernels.tree.constraints import look_up

CALL = 4  # numbers for a call of a drive: t, and f, f', f''


@kernel
def prescribe(system, t, inputs, targets, rates, call):
    """Fill targets and rates (motors + drives + rotors,) but those of rotors for time t; inputs (motors,), NaN: off; call (4,): room."""
    motors = int(system[MOTORS])
    for i in range(motors):
        targets[i] = inputs[i]
        rates[i] = 0.0
    for i in range(int(system[DRIVES])):
        at = int(system[AT_DRIVES]) + i * DRIVE_SIZE
        call[0] = t
        if system[at + PIECES] > 0.0:
            look_up(system, int(system[at + TABLE]), int(system[at + PIECES]), t, call, 1)
        else:
            call_at(int(system[at + FUNCTION]), call, 0, call, 1)
        targets[motors + i] = call[1]
        rates[motors + i] = call[2]


@kernel
def add_motor_forces(system, inputs, J_measures, forces):
    """forces (6 n,) += J^T clip(gear u) of torque motors: torques in body axes, forces in world axes. J_measures: of `measure`."""
    for i in range(int(system[MOTORS])):
        at = int(system[AT_MOTORS]) + i * MOTOR_SIZE
        if system[at + MOTOR_GEAR] == 0.0 or inputs[i] != inputs[i]:
            continue
        joint = int(system[AT_JOINTS]) + int(system[at + MOTOR_JOINT]) * JOINT_SIZE
        tau = min(max(system[at + MOTOR_GEAR] * inputs[i], system[at + MOTOR_LEAST]), system[at + MOTOR_GREATEST])
        add_along(J_measures, int(system[at + MOTOR_MEASURE]), tau, int(system[joint + BODY_A]), int(system[joint + BODY_B]), forces)


@kernel
def add_along(J, m, tau, body_a, body_b, forces):
    """forces += tau J[m]^T on two bodies."""
    for k in range(6):
        if body_a >= 0:
            forces[6 * body_a + k] += tau * J[m, k]
        if body_b >= 0:
            forces[6 * body_b + k] += tau * J[m, 6 + k]
