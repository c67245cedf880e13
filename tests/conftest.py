"""For all tests: the lines about compiling stay out of what tests read; those that are about them ask for them."""

import os

os.environ.setdefault("DALEMBERT_QUIET", "1")
