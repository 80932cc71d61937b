"""How long tests wait. All waits are long, so that a busy machine causes no failure."""

import os

WAIT_S = 180.0 * float(os.environ.get("TEST_PATIENCE", "1"))
"""For one thing: an answer, a process, a state. Whoever waits returns as soon as it is there."""
LONG_MS = int(WAIT_S * 5000)
"""For a call that is to be woken or cut off: whoever waits for its end in vain gives up long before."""
TEST_LIMIT_S = 5 * WAIT_S
"""For a whole test, which waits for several things one after the other."""
