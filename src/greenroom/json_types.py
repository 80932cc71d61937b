"""JSON whose shape Greenroom does not decide. Each name says who does."""

from typing import Any

JsonObject = dict[str, Any]
"""An object of another program's protocol or file, or a document of a user that is still to be checked."""
ToolArguments = dict[str, Any]
"""The arguments of a tool call. The schema of the tool says what they are."""
Metadata = dict[str, Any]
"""What a caller keeps with a thread or a message."""
JsonSchema = dict[str, Any]
"""A JSON Schema or an OpenAPI description, or a part of one."""
UncheckedOptions = dict[str, Any]
"""Options in a profile, which only its driver knows and checks."""
