"""Every method is one file below this package; it registers itself.

The package can be called: `dal.steppers(order=2)` lists descriptions, whether or not the package has been imported before.
"""

import sys
import types
from typing import Any

from dalembert import registry


class _Steppers(types.ModuleType):
    def __call__(self, **wanted: Any) -> list[registry.Stepper]:
        return registry.steppers(**wanted)


sys.modules[__name__].__class__ = _Steppers
