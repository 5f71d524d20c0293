"""The one door to working on Tallystick: `python3 dev.py JOB`; without a job it lists them.

It needs Python 3.11 or later and git, nothing else, and keeps all it makes in the folder `.dev`. The jobs stand in
`yard/jobs.py`. This file is written so that a Python of any age can read it and say what is missing.
"""

import sys

if sys.version_info < (3, 11):
    sys.exit("Tallystick needs Python 3.11 or later, this is %d.%d: try python3.11 dev.py" % sys.version_info[:2])

from yard.jobs import main  # only a Python that is new enough may read it

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
