"""Agent Assistant's messages as its clients know them: made by protoc from the .proto, apart from what the hub uses."""

import importlib.resources
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PACKAGE = "agentassistproto"
FACTS = """
TextContent 1 type 2 text
ImageContent 1 type 2 data 3 mime_type
AudioContent 1 type 2 data 3 mime_type
EmbeddedResource 1 type 2 uri 3 mime_type 4 data
McpResultContent 1 type 2 text 3 image 4 audio 5 embedded_resource
McpAskQuestionRequest 1 ProjectDirectory 2 Question 3 Timeout 4 AgentName 5 ReasoningModelName 6 McpClientName \
7 Questions
Question 1 question 2 header 3 options 4 multiple 5 custom
Option 1 label 2 description
AskQuestionRequest 1 ID 2 UserToken 3 Request 4 Timestamp
AskQuestionResponse 1 ID 2 IsError 3 Meta 4 contents
McpTaskFinishRequest 1 ProjectDirectory 2 Summary 3 Timeout 4 AgentName 5 ReasoningModelName 6 McpClientName
McpWorkReportRequest 1 ProjectDirectory 2 Summary 3 Timeout 4 AgentName 5 ReasoningModelName 6 McpClientName
TaskFinishRequest 1 ID 2 UserToken 3 Request 4 Timestamp
WorkReportRequest 1 ID 2 UserToken 3 Request 4 Timestamp
TaskFinishResponse 1 ID 2 IsError 3 Meta 4 contents
WorkReportResponse 1 ID 2 IsError 3 Meta 4 contents
McpClientInfoData 1 ProtocolVersion 2 CapabilitiesJson 3 ClientName 4 ClientVersion
McpClientInfoRequest 1 ID 2 UserToken 3 Request 4 Timestamp
McpClientInfoResponse 1 Success
CheckMessageValidityRequest 1 request_ids
CheckMessageValidityResponse 1 validity
GetPendingMessagesRequest 1 user_token
PendingMessage 1 message_type 2 ask_question_request 3 work_report_request 4 created_at 5 timeout
RequestCancelledNotification 1 request_id 2 reason 3 message_type
OnlineUser 1 client_id 2 nickname 3 connected_at
GetOnlineUsersRequest 1 user_token
GetOnlineUsersResponse 1 online_users 2 total_count
ChatMessage 1 message_id 2 sender_client_id 3 sender_nickname 4 receiver_client_id 5 receiver_nickname \
6 content 7 sent_at
SendChatMessageRequest 1 receiver_client_id 2 content
ChatMessageNotification 1 chat_message
UserLoginResponse 1 client_id 2 success 3 error_message
UserConnectionStatusNotification 1 user 2 status 3 timestamp
WebsocketMessage 1 Cmd 2 AskQuestionRequest 3 WorkReportRequest 4 AskQuestionResponse 5 WorkReportResponse 12 StrParam \
13 CheckMessageValidityRequest 14 CheckMessageValidityResponse 15 GetPendingMessagesRequest \
16 GetPendingMessagesResponse 17 RequestCancelledNotification 18 Nickname 19 GetOnlineUsersRequest \
20 GetOnlineUsersResponse 21 SendChatMessageRequest 22 ChatMessageNotification 23 UserLoginResponse \
24 UserConnectionStatusNotification
"""
"""Every field by its number, as clients in the field have them."""


@cache
def classes() -> dict[str, Any]:
    """The message classes by name."""
    from grpc_tools import protoc

    source = importlib.resources.files("greenroom.doors.compat.assist") / "agentassist.proto"
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "client.proto").write_text(source.read_text())
        made = Path(folder) / "made"
        assert protoc.main(["protoc", f"-I{folder}", f"--descriptor_set_out={made}", "client.proto"]) == 0
        files = descriptor_pb2.FileDescriptorSet.FromString(made.read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    found = message_factory.GetMessageClassesForFiles([file.name for file in files.file], pool)
    return {name.removeprefix(f"{PACKAGE}."): kind for name, kind in found.items()}


def make(name: str, **fields: Any) -> Any:
    return classes()[name](**fields)


def parse(name: str, data: bytes) -> Any:
    return classes()[name].FromString(data)


def text(words: str) -> Any:
    return make("McpResultContent", type=1, text=make("TextContent", type="text", text=words))
