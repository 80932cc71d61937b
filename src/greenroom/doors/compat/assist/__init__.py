"""Agent Assistant's clients: RPCs of programs that ask, and binary frames of the devices of who answers."""

SERVICE = "agentassistproto.SrvAgentAssist"
MOST_BYTES = 1_048_576
"""The largest request of an RPC."""
