"""Optimal control on the discrete equations of the simulator: a plan is a trajectory of the stepper that runs it."""

from dalembert.control.avoidance import Avoid
from dalembert.control.contacts import Touch
from dalembert.control.dmoc import dmoc
from dalembert.control.dmocc import dmocc
from dalembert.control.feedback import Feedback
from dalembert.control.files import SavedPlan, load
from dalembert.control.lqr import lqr
from dalembert.control.obstacles import Obstacle
from dalembert.control.problem import Problem
from dalembert.control.solution import Solution
from dalembert.control.track import track

__all__ = ["Avoid", "Feedback", "Obstacle", "Problem", "SavedPlan", "Solution", "Touch", "dmoc", "dmocc", "load", "lqr", "track"]
