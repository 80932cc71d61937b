"""Imports the MCP SDK in threads, one at a time, because two imports at once get incomplete modules."""

import threading

SDK_LOADING = threading.Lock()
