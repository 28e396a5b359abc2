"""`python -m offing.engine.cli` is the `offing` command."""

import sys

from .main import main

sys.exit(main())
