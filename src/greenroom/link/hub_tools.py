"""The hub's own tools by the names that policies use, whatever a runtime calls them."""

HUB = "greenroom"
"""The name under which agents are given the hub."""
HUB_PREFIX = f"mcp__{HUB}__"
"""The prefix of the hub's tools in the names that policies know, whatever a runtime calls them."""
SERVER_SEPARATOR = "__"
"""What stands between a server's name and its tool's in the name that agents see."""
_NAMES = (
    "bus_connect bus_get_config msg_post msg_wait msg_list msg_get msg_search msg_edit msg_edit_history msg_react"
    " msg_unreact msg_receipts mail_send mail_wait thread_create thread_list thread_get thread_delete thread_close"
    " thread_archive thread_set_state thread_settings_get thread_settings_update thread_wait_state_get close_meeting"
    " agent_register agent_heartbeat agent_resume agent_unregister agent_list agent_update agent_set_typing"
    " agent_invite template_list template_get template_create spawn_agent run_status run_cancel profile_list"
    " profile_put profile_delete ask_question task_finish work_report permission_request workflow_list workflow_start"
    " workflow_status workflow_control"
)
HUB_TOOLS = frozenset(_NAMES.split())
"""The hub's own tools by their exact names: a project's own server can have a name that begins like the hub's."""
