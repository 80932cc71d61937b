"""All nouns that the log is composed of, lowest first; apart from the doors, so that tools on the log start quickly."""

from greenroom.log.model import Noun
from greenroom.rules.access.project import ACCESS
from greenroom.rules.agents.project import AGENTS_NOUN
from greenroom.rules.asks.project import ASKS_NOUN
from greenroom.rules.channels.project import NOTIFY_NOUN
from greenroom.rules.clock.project import CLOCK_NOUN
from greenroom.rules.nodes.project import NODES_NOUN
from greenroom.rules.policy.project import POLICY_NOUN
from greenroom.rules.runs.project import RUNS_NOUN
from greenroom.rules.servers.project import SERVERS_NOUN
from greenroom.rules.threads.project import THREADS_NOUN
from greenroom.rules.workflows.project import WORKFLOWS_NOUN

NOUNS: tuple[Noun, ...] = (
    ACCESS,
    CLOCK_NOUN,
    NOTIFY_NOUN,
    NODES_NOUN,
    AGENTS_NOUN,
    THREADS_NOUN,
    SERVERS_NOUN,
    POLICY_NOUN,
    ASKS_NOUN,
    RUNS_NOUN,
    WORKFLOWS_NOUN,
)
