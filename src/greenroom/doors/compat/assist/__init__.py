"""Agent Assistant's clients: RPCs of programs that ask, and binary frames of devices that answer."""

SERVICE = "agentassistproto.SrvAgentAssist"
MOST_BYTES = 1_048_576
"""The largest request of an RPC."""
