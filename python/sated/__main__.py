"""`python -m sated`: the same as the command `sated`."""

import sys

from sated.cli import main

sys.exit(main())
