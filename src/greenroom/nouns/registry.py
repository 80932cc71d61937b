"""All nouns that the log is composed of, lowest first; apart from the doors, so that tools on the log start quickly."""

from greenroom.log.model import Noun
from greenroom.nouns.access.project import ACCESS
from greenroom.nouns.agents.project import AGENTS_NOUN
from greenroom.nouns.asks.project import ASKS_NOUN
from greenroom.nouns.channels.project import NOTIFY_NOUN
from greenroom.nouns.clock.project import CLOCK_NOUN
from greenroom.nouns.nodes.project import NODES_NOUN
from greenroom.nouns.policy.project import POLICY_NOUN
from greenroom.nouns.runs.project import RUNS_NOUN
from greenroom.nouns.servers.project import SERVERS_NOUN
from greenroom.nouns.threads.project import THREADS_NOUN
from greenroom.nouns.workflows.project import WORKFLOWS_NOUN

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
