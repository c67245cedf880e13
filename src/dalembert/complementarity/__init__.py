"""Linear complementarity problems, boxed and mixed: seven methods behind one call, one judge for all of them.

from dalembert.complementarity import lcp
lcp([[2, 1], [1, 2]], [-5, -6]).z                         # 0 <= z  _|_  M z + q >= 0
lcp(M, q, lower=-1, upper=1, method="block-pivot")        # a box: the quadratic program min 1/2 z M z + q z, where M is symmetric
"""

from dalembert.complementarity.registry import Method, find_method, methods
from dalembert.complementarity.residual import Judgement, judge
from dalembert.complementarity.result import MEANING, LCPResult
from dalembert.complementarity.solve import lcp

__all__ = ["MEANING", "Judgement", "LCPResult", "Method", "find_method", "judge", "lcp", "methods"]
