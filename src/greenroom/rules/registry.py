"""All nouns of the log, lowest first, and all verbs. It imports no door, so that commands start quickly."""

from greenroom.log.model import Noun
from greenroom.rules.access.project import ACCESS
from greenroom.rules.access.verbs import CREDENTIAL_VERBS
from greenroom.rules.agents.project import AGENTS_NOUN
from greenroom.rules.agents.verbs import AGENT_VERBS, PROFILE_VERBS
from greenroom.rules.asks.project import ASKS_NOUN
from greenroom.rules.asks.verbs import ASK_VERBS
from greenroom.rules.channels.project import NOTIFY_NOUN
from greenroom.rules.channels.verbs import CHANNEL_VERBS
from greenroom.rules.clock.project import CLOCK_NOUN
from greenroom.rules.nodes.project import NODES_NOUN
from greenroom.rules.nodes.verbs import NODE_VERBS
from greenroom.rules.policy.project import POLICY_NOUN
from greenroom.rules.policy.verbs import POLICY_VERBS
from greenroom.rules.runs.project import RUNS_NOUN
from greenroom.rules.runs.verbs import AGENT_PROCESS_VERBS, NODE_REMOVAL_VERBS, RUN_VERBS
from greenroom.rules.servers.project import SERVERS_NOUN
from greenroom.rules.servers.verbs import SERVER_VERBS
from greenroom.rules.threads.project import THREADS_NOUN
from greenroom.rules.threads.verbs import TEMPLATE_VERBS, THREAD_VERBS
from greenroom.rules.verb import Verb
from greenroom.rules.workflows.project import WORKFLOWS_NOUN
from greenroom.rules.workflows.verbs import TRIGGER_VERBS, WORKFLOW_RUN_VERBS, WORKFLOW_VERBS

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

VERBS: tuple[Verb, ...] = (
    *CREDENTIAL_VERBS,
    *CHANNEL_VERBS,
    *NODE_VERBS,
    *NODE_REMOVAL_VERBS,
    *AGENT_VERBS,
    *PROFILE_VERBS,
    *AGENT_PROCESS_VERBS,
    *THREAD_VERBS,
    *TEMPLATE_VERBS,
    *SERVER_VERBS,
    *POLICY_VERBS,
    *ASK_VERBS,
    *RUN_VERBS,
    *WORKFLOW_VERBS,
    *WORKFLOW_RUN_VERBS,
    *TRIGGER_VERBS,
)
