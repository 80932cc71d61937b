"""Importing the MCP SDK in threads: one at a time, because two at once get halves of its modules."""

import threading

SDK_LOADING = threading.Lock()
