"""Tests of this folder share the scenes of contact_laws.py: they import it by name."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
