"""What holds for all tests."""

import os

from hypothesis import settings

# A busy machine is no reason to fail, and what fails in CI must fail again at home.
settings.register_profile("surefoot", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("surefoot")
