import sys

from relxl.cli import main

sys.exit(main())
