"""Who sees which tool over MCP: + is shown and may be called, - is hidden and looks like a tool that does not exist.

The columns: an operator, a viewer, an agent with a token of its own, a credential that enrols agents, a local program
without a credential where that is allowed, a node, and a webhook.
"""

COLUMNS = ("operator", "viewer", "agent", "enroller", "anonymous", "node", "webhook")

MATRIX: dict[str, str] = {
    "bus_connect": "+-+++--",
    "bus_get_config": "+++++--",
    "msg_post": "+-+++--",
    "msg_wait": "+++++--",
    "msg_list": "+++++--",
    "thread_create": "+-+++--",
    "thread_list": "+++++--",
    "thread_get": "+++++--",
    "thread_delete": "+-+++--",
    "thread_close": "+-+++--",
    "thread_archive": "+-+++--",
    "thread_set_state": "+-+++--",
    "thread_settings_get": "+++++--",
    "thread_settings_update": "+-+++--",
    "thread_wait_state_get": "+++++--",
    "close_meeting": "+-+++--",
    "msg_get": "+++++--",
    "msg_search": "+++++--",
    "msg_edit": "+-+++--",
    "msg_edit_history": "+++++--",
    "msg_react": "+-+++--",
    "msg_unreact": "+-+++--",
    "msg_receipts": "+++++--",
    "mail_send": "+-+++--",
    "mail_wait": "+-+++--",
    "agent_register": "+-+++--",
    "agent_heartbeat": "+-+++--",
    "agent_resume": "+-+++--",
    "agent_unregister": "+-+++--",
    "agent_list": "+++++--",
    "agent_update": "+-+++--",
    "agent_set_typing": "+-+++--",
    "template_list": "+++++--",
    "template_get": "+++++--",
    "template_create": "+-+++--",
    "agent_invite": "+------",
    "spawn_agent": "+-+++--",
    "run_status": "+++++--",
    "run_cancel": "+-+++--",
    "profile_list": "+------",
    "profile_put": "+------",
    "profile_delete": "+------",
}
