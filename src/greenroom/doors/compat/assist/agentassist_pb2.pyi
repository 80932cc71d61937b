from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TextContent(_message.Message):
    __slots__ = ("type", "text")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    type: str
    text: str
    def __init__(self, type: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class ImageContent(_message.Message):
    __slots__ = ("type", "data", "mime_type")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    MIME_TYPE_FIELD_NUMBER: _ClassVar[int]
    type: str
    data: str
    mime_type: str
    def __init__(self, type: _Optional[str] = ..., data: _Optional[str] = ..., mime_type: _Optional[str] = ...) -> None: ...

class AudioContent(_message.Message):
    __slots__ = ("type", "data", "mime_type")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    MIME_TYPE_FIELD_NUMBER: _ClassVar[int]
    type: str
    data: str
    mime_type: str
    def __init__(self, type: _Optional[str] = ..., data: _Optional[str] = ..., mime_type: _Optional[str] = ...) -> None: ...

class EmbeddedResource(_message.Message):
    __slots__ = ("type", "uri", "mime_type", "data")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    URI_FIELD_NUMBER: _ClassVar[int]
    MIME_TYPE_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    type: str
    uri: str
    mime_type: str
    data: bytes
    def __init__(self, type: _Optional[str] = ..., uri: _Optional[str] = ..., mime_type: _Optional[str] = ..., data: _Optional[bytes] = ...) -> None: ...

class McpResultContent(_message.Message):
    __slots__ = ("type", "text", "image", "audio", "embedded_resource")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    IMAGE_FIELD_NUMBER: _ClassVar[int]
    AUDIO_FIELD_NUMBER: _ClassVar[int]
    EMBEDDED_RESOURCE_FIELD_NUMBER: _ClassVar[int]
    type: int
    text: TextContent
    image: ImageContent
    audio: AudioContent
    embedded_resource: EmbeddedResource
    def __init__(self, type: _Optional[int] = ..., text: _Optional[_Union[TextContent, _Mapping]] = ..., image: _Optional[_Union[ImageContent, _Mapping]] = ..., audio: _Optional[_Union[AudioContent, _Mapping]] = ..., embedded_resource: _Optional[_Union[EmbeddedResource, _Mapping]] = ...) -> None: ...

class Option(_message.Message):
    __slots__ = ("label", "description")
    LABEL_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    label: str
    description: str
    def __init__(self, label: _Optional[str] = ..., description: _Optional[str] = ...) -> None: ...

class Question(_message.Message):
    __slots__ = ("question", "header", "options", "multiple", "custom")
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    HEADER_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    MULTIPLE_FIELD_NUMBER: _ClassVar[int]
    CUSTOM_FIELD_NUMBER: _ClassVar[int]
    question: str
    header: str
    options: _containers.RepeatedCompositeFieldContainer[Option]
    multiple: bool
    custom: bool
    def __init__(self, question: _Optional[str] = ..., header: _Optional[str] = ..., options: _Optional[_Iterable[_Union[Option, _Mapping]]] = ..., multiple: _Optional[bool] = ..., custom: _Optional[bool] = ...) -> None: ...

class McpAskQuestionRequest(_message.Message):
    __slots__ = ("ProjectDirectory", "Question", "Timeout", "AgentName", "ReasoningModelName", "McpClientName", "Questions")
    PROJECTDIRECTORY_FIELD_NUMBER: _ClassVar[int]
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    AGENTNAME_FIELD_NUMBER: _ClassVar[int]
    REASONINGMODELNAME_FIELD_NUMBER: _ClassVar[int]
    MCPCLIENTNAME_FIELD_NUMBER: _ClassVar[int]
    QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    ProjectDirectory: str
    Question: str
    Timeout: int
    AgentName: str
    ReasoningModelName: str
    McpClientName: str
    Questions: _containers.RepeatedCompositeFieldContainer[Question]
    def __init__(self, ProjectDirectory: _Optional[str] = ..., Question: _Optional[str] = ..., Timeout: _Optional[int] = ..., AgentName: _Optional[str] = ..., ReasoningModelName: _Optional[str] = ..., McpClientName: _Optional[str] = ..., Questions: _Optional[_Iterable[_Union[Question, _Mapping]]] = ...) -> None: ...

class AskQuestionRequest(_message.Message):
    __slots__ = ("ID", "UserToken", "Request", "Timestamp")
    ID_FIELD_NUMBER: _ClassVar[int]
    USERTOKEN_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    ID: str
    UserToken: str
    Request: McpAskQuestionRequest
    Timestamp: int
    def __init__(self, ID: _Optional[str] = ..., UserToken: _Optional[str] = ..., Request: _Optional[_Union[McpAskQuestionRequest, _Mapping]] = ..., Timestamp: _Optional[int] = ...) -> None: ...

class AskQuestionResponse(_message.Message):
    __slots__ = ("ID", "IsError", "Meta", "contents")
    class MetaEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    ISERROR_FIELD_NUMBER: _ClassVar[int]
    META_FIELD_NUMBER: _ClassVar[int]
    CONTENTS_FIELD_NUMBER: _ClassVar[int]
    ID: str
    IsError: bool
    Meta: _containers.ScalarMap[str, str]
    contents: _containers.RepeatedCompositeFieldContainer[McpResultContent]
    def __init__(self, ID: _Optional[str] = ..., IsError: _Optional[bool] = ..., Meta: _Optional[_Mapping[str, str]] = ..., contents: _Optional[_Iterable[_Union[McpResultContent, _Mapping]]] = ...) -> None: ...

class McpTaskFinishRequest(_message.Message):
    __slots__ = ("ProjectDirectory", "Summary", "Timeout", "AgentName", "ReasoningModelName", "McpClientName")
    PROJECTDIRECTORY_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    AGENTNAME_FIELD_NUMBER: _ClassVar[int]
    REASONINGMODELNAME_FIELD_NUMBER: _ClassVar[int]
    MCPCLIENTNAME_FIELD_NUMBER: _ClassVar[int]
    ProjectDirectory: str
    Summary: str
    Timeout: int
    AgentName: str
    ReasoningModelName: str
    McpClientName: str
    def __init__(self, ProjectDirectory: _Optional[str] = ..., Summary: _Optional[str] = ..., Timeout: _Optional[int] = ..., AgentName: _Optional[str] = ..., ReasoningModelName: _Optional[str] = ..., McpClientName: _Optional[str] = ...) -> None: ...

class TaskFinishRequest(_message.Message):
    __slots__ = ("ID", "UserToken", "Request", "Timestamp")
    ID_FIELD_NUMBER: _ClassVar[int]
    USERTOKEN_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    ID: str
    UserToken: str
    Request: McpTaskFinishRequest
    Timestamp: int
    def __init__(self, ID: _Optional[str] = ..., UserToken: _Optional[str] = ..., Request: _Optional[_Union[McpTaskFinishRequest, _Mapping]] = ..., Timestamp: _Optional[int] = ...) -> None: ...

class TaskFinishResponse(_message.Message):
    __slots__ = ("ID", "IsError", "Meta", "contents")
    class MetaEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    ISERROR_FIELD_NUMBER: _ClassVar[int]
    META_FIELD_NUMBER: _ClassVar[int]
    CONTENTS_FIELD_NUMBER: _ClassVar[int]
    ID: str
    IsError: bool
    Meta: _containers.ScalarMap[str, str]
    contents: _containers.RepeatedCompositeFieldContainer[McpResultContent]
    def __init__(self, ID: _Optional[str] = ..., IsError: _Optional[bool] = ..., Meta: _Optional[_Mapping[str, str]] = ..., contents: _Optional[_Iterable[_Union[McpResultContent, _Mapping]]] = ...) -> None: ...

class McpWorkReportRequest(_message.Message):
    __slots__ = ("ProjectDirectory", "Summary", "Timeout", "AgentName", "ReasoningModelName", "McpClientName")
    PROJECTDIRECTORY_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    AGENTNAME_FIELD_NUMBER: _ClassVar[int]
    REASONINGMODELNAME_FIELD_NUMBER: _ClassVar[int]
    MCPCLIENTNAME_FIELD_NUMBER: _ClassVar[int]
    ProjectDirectory: str
    Summary: str
    Timeout: int
    AgentName: str
    ReasoningModelName: str
    McpClientName: str
    def __init__(self, ProjectDirectory: _Optional[str] = ..., Summary: _Optional[str] = ..., Timeout: _Optional[int] = ..., AgentName: _Optional[str] = ..., ReasoningModelName: _Optional[str] = ..., McpClientName: _Optional[str] = ...) -> None: ...

class WorkReportRequest(_message.Message):
    __slots__ = ("ID", "UserToken", "Request", "Timestamp")
    ID_FIELD_NUMBER: _ClassVar[int]
    USERTOKEN_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    ID: str
    UserToken: str
    Request: McpWorkReportRequest
    Timestamp: int
    def __init__(self, ID: _Optional[str] = ..., UserToken: _Optional[str] = ..., Request: _Optional[_Union[McpWorkReportRequest, _Mapping]] = ..., Timestamp: _Optional[int] = ...) -> None: ...

class WorkReportResponse(_message.Message):
    __slots__ = ("ID", "IsError", "Meta", "contents")
    class MetaEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    ISERROR_FIELD_NUMBER: _ClassVar[int]
    META_FIELD_NUMBER: _ClassVar[int]
    CONTENTS_FIELD_NUMBER: _ClassVar[int]
    ID: str
    IsError: bool
    Meta: _containers.ScalarMap[str, str]
    contents: _containers.RepeatedCompositeFieldContainer[McpResultContent]
    def __init__(self, ID: _Optional[str] = ..., IsError: _Optional[bool] = ..., Meta: _Optional[_Mapping[str, str]] = ..., contents: _Optional[_Iterable[_Union[McpResultContent, _Mapping]]] = ...) -> None: ...

class McpClientInfoData(_message.Message):
    __slots__ = ("ProtocolVersion", "CapabilitiesJson", "ClientName", "ClientVersion")
    PROTOCOLVERSION_FIELD_NUMBER: _ClassVar[int]
    CAPABILITIESJSON_FIELD_NUMBER: _ClassVar[int]
    CLIENTNAME_FIELD_NUMBER: _ClassVar[int]
    CLIENTVERSION_FIELD_NUMBER: _ClassVar[int]
    ProtocolVersion: str
    CapabilitiesJson: str
    ClientName: str
    ClientVersion: str
    def __init__(self, ProtocolVersion: _Optional[str] = ..., CapabilitiesJson: _Optional[str] = ..., ClientName: _Optional[str] = ..., ClientVersion: _Optional[str] = ...) -> None: ...

class McpClientInfoRequest(_message.Message):
    __slots__ = ("ID", "UserToken", "Request", "Timestamp")
    ID_FIELD_NUMBER: _ClassVar[int]
    USERTOKEN_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    ID: str
    UserToken: str
    Request: McpClientInfoData
    Timestamp: int
    def __init__(self, ID: _Optional[str] = ..., UserToken: _Optional[str] = ..., Request: _Optional[_Union[McpClientInfoData, _Mapping]] = ..., Timestamp: _Optional[int] = ...) -> None: ...

class McpClientInfoResponse(_message.Message):
    __slots__ = ("Success",)
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    Success: bool
    def __init__(self, Success: _Optional[bool] = ...) -> None: ...

class CheckMessageValidityRequest(_message.Message):
    __slots__ = ("request_ids",)
    REQUEST_IDS_FIELD_NUMBER: _ClassVar[int]
    request_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, request_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class CheckMessageValidityResponse(_message.Message):
    __slots__ = ("validity",)
    class ValidityEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bool
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bool] = ...) -> None: ...
    VALIDITY_FIELD_NUMBER: _ClassVar[int]
    validity: _containers.ScalarMap[str, bool]
    def __init__(self, validity: _Optional[_Mapping[str, bool]] = ...) -> None: ...

class GetPendingMessagesRequest(_message.Message):
    __slots__ = ("user_token",)
    USER_TOKEN_FIELD_NUMBER: _ClassVar[int]
    user_token: str
    def __init__(self, user_token: _Optional[str] = ...) -> None: ...

class PendingMessage(_message.Message):
    __slots__ = ("message_type", "ask_question_request", "work_report_request", "created_at", "timeout")
    MESSAGE_TYPE_FIELD_NUMBER: _ClassVar[int]
    ASK_QUESTION_REQUEST_FIELD_NUMBER: _ClassVar[int]
    WORK_REPORT_REQUEST_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    message_type: str
    ask_question_request: AskQuestionRequest
    work_report_request: WorkReportRequest
    created_at: int
    timeout: int
    def __init__(self, message_type: _Optional[str] = ..., ask_question_request: _Optional[_Union[AskQuestionRequest, _Mapping]] = ..., work_report_request: _Optional[_Union[WorkReportRequest, _Mapping]] = ..., created_at: _Optional[int] = ..., timeout: _Optional[int] = ...) -> None: ...

class GetPendingMessagesResponse(_message.Message):
    __slots__ = ("pending_messages", "total_count")
    PENDING_MESSAGES_FIELD_NUMBER: _ClassVar[int]
    TOTAL_COUNT_FIELD_NUMBER: _ClassVar[int]
    pending_messages: _containers.RepeatedCompositeFieldContainer[PendingMessage]
    total_count: int
    def __init__(self, pending_messages: _Optional[_Iterable[_Union[PendingMessage, _Mapping]]] = ..., total_count: _Optional[int] = ...) -> None: ...

class RequestCancelledNotification(_message.Message):
    __slots__ = ("request_id", "reason", "message_type")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_TYPE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    reason: str
    message_type: str
    def __init__(self, request_id: _Optional[str] = ..., reason: _Optional[str] = ..., message_type: _Optional[str] = ...) -> None: ...

class OnlineUser(_message.Message):
    __slots__ = ("client_id", "nickname", "connected_at")
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    NICKNAME_FIELD_NUMBER: _ClassVar[int]
    CONNECTED_AT_FIELD_NUMBER: _ClassVar[int]
    client_id: str
    nickname: str
    connected_at: int
    def __init__(self, client_id: _Optional[str] = ..., nickname: _Optional[str] = ..., connected_at: _Optional[int] = ...) -> None: ...

class GetOnlineUsersRequest(_message.Message):
    __slots__ = ("user_token",)
    USER_TOKEN_FIELD_NUMBER: _ClassVar[int]
    user_token: str
    def __init__(self, user_token: _Optional[str] = ...) -> None: ...

class GetOnlineUsersResponse(_message.Message):
    __slots__ = ("online_users", "total_count")
    ONLINE_USERS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_COUNT_FIELD_NUMBER: _ClassVar[int]
    online_users: _containers.RepeatedCompositeFieldContainer[OnlineUser]
    total_count: int
    def __init__(self, online_users: _Optional[_Iterable[_Union[OnlineUser, _Mapping]]] = ..., total_count: _Optional[int] = ...) -> None: ...

class ChatMessage(_message.Message):
    __slots__ = ("message_id", "sender_client_id", "sender_nickname", "receiver_client_id", "receiver_nickname", "content", "sent_at")
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    SENDER_CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    SENDER_NICKNAME_FIELD_NUMBER: _ClassVar[int]
    RECEIVER_CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    RECEIVER_NICKNAME_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    SENT_AT_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    sender_client_id: str
    sender_nickname: str
    receiver_client_id: str
    receiver_nickname: str
    content: str
    sent_at: int
    def __init__(self, message_id: _Optional[str] = ..., sender_client_id: _Optional[str] = ..., sender_nickname: _Optional[str] = ..., receiver_client_id: _Optional[str] = ..., receiver_nickname: _Optional[str] = ..., content: _Optional[str] = ..., sent_at: _Optional[int] = ...) -> None: ...

class SendChatMessageRequest(_message.Message):
    __slots__ = ("receiver_client_id", "content")
    RECEIVER_CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    receiver_client_id: str
    content: str
    def __init__(self, receiver_client_id: _Optional[str] = ..., content: _Optional[str] = ...) -> None: ...

class ChatMessageNotification(_message.Message):
    __slots__ = ("chat_message",)
    CHAT_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    chat_message: ChatMessage
    def __init__(self, chat_message: _Optional[_Union[ChatMessage, _Mapping]] = ...) -> None: ...

class UserLoginResponse(_message.Message):
    __slots__ = ("client_id", "success", "error_message")
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    ERROR_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    client_id: str
    success: bool
    error_message: str
    def __init__(self, client_id: _Optional[str] = ..., success: _Optional[bool] = ..., error_message: _Optional[str] = ...) -> None: ...

class UserConnectionStatusNotification(_message.Message):
    __slots__ = ("user", "status", "timestamp")
    USER_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    user: OnlineUser
    status: str
    timestamp: int
    def __init__(self, user: _Optional[_Union[OnlineUser, _Mapping]] = ..., status: _Optional[str] = ..., timestamp: _Optional[int] = ...) -> None: ...

class WebsocketMessage(_message.Message):
    __slots__ = ("Cmd", "AskQuestionRequest", "WorkReportRequest", "AskQuestionResponse", "WorkReportResponse", "StrParam", "CheckMessageValidityRequest", "CheckMessageValidityResponse", "GetPendingMessagesRequest", "GetPendingMessagesResponse", "RequestCancelledNotification", "Nickname", "GetOnlineUsersRequest", "GetOnlineUsersResponse", "SendChatMessageRequest", "ChatMessageNotification", "UserLoginResponse", "UserConnectionStatusNotification")
    CMD_FIELD_NUMBER: _ClassVar[int]
    ASKQUESTIONREQUEST_FIELD_NUMBER: _ClassVar[int]
    WORKREPORTREQUEST_FIELD_NUMBER: _ClassVar[int]
    ASKQUESTIONRESPONSE_FIELD_NUMBER: _ClassVar[int]
    WORKREPORTRESPONSE_FIELD_NUMBER: _ClassVar[int]
    STRPARAM_FIELD_NUMBER: _ClassVar[int]
    CHECKMESSAGEVALIDITYREQUEST_FIELD_NUMBER: _ClassVar[int]
    CHECKMESSAGEVALIDITYRESPONSE_FIELD_NUMBER: _ClassVar[int]
    GETPENDINGMESSAGESREQUEST_FIELD_NUMBER: _ClassVar[int]
    GETPENDINGMESSAGESRESPONSE_FIELD_NUMBER: _ClassVar[int]
    REQUESTCANCELLEDNOTIFICATION_FIELD_NUMBER: _ClassVar[int]
    NICKNAME_FIELD_NUMBER: _ClassVar[int]
    GETONLINEUSERSREQUEST_FIELD_NUMBER: _ClassVar[int]
    GETONLINEUSERSRESPONSE_FIELD_NUMBER: _ClassVar[int]
    SENDCHATMESSAGEREQUEST_FIELD_NUMBER: _ClassVar[int]
    CHATMESSAGENOTIFICATION_FIELD_NUMBER: _ClassVar[int]
    USERLOGINRESPONSE_FIELD_NUMBER: _ClassVar[int]
    USERCONNECTIONSTATUSNOTIFICATION_FIELD_NUMBER: _ClassVar[int]
    Cmd: str
    AskQuestionRequest: AskQuestionRequest
    WorkReportRequest: WorkReportRequest
    AskQuestionResponse: AskQuestionResponse
    WorkReportResponse: WorkReportResponse
    StrParam: str
    CheckMessageValidityRequest: CheckMessageValidityRequest
    CheckMessageValidityResponse: CheckMessageValidityResponse
    GetPendingMessagesRequest: GetPendingMessagesRequest
    GetPendingMessagesResponse: GetPendingMessagesResponse
    RequestCancelledNotification: RequestCancelledNotification
    Nickname: str
    GetOnlineUsersRequest: GetOnlineUsersRequest
    GetOnlineUsersResponse: GetOnlineUsersResponse
    SendChatMessageRequest: SendChatMessageRequest
    ChatMessageNotification: ChatMessageNotification
    UserLoginResponse: UserLoginResponse
    UserConnectionStatusNotification: UserConnectionStatusNotification
    def __init__(self, Cmd: _Optional[str] = ..., AskQuestionRequest: _Optional[_Union[AskQuestionRequest, _Mapping]] = ..., WorkReportRequest: _Optional[_Union[WorkReportRequest, _Mapping]] = ..., AskQuestionResponse: _Optional[_Union[AskQuestionResponse, _Mapping]] = ..., WorkReportResponse: _Optional[_Union[WorkReportResponse, _Mapping]] = ..., StrParam: _Optional[str] = ..., CheckMessageValidityRequest: _Optional[_Union[CheckMessageValidityRequest, _Mapping]] = ..., CheckMessageValidityResponse: _Optional[_Union[CheckMessageValidityResponse, _Mapping]] = ..., GetPendingMessagesRequest: _Optional[_Union[GetPendingMessagesRequest, _Mapping]] = ..., GetPendingMessagesResponse: _Optional[_Union[GetPendingMessagesResponse, _Mapping]] = ..., RequestCancelledNotification: _Optional[_Union[RequestCancelledNotification, _Mapping]] = ..., Nickname: _Optional[str] = ..., GetOnlineUsersRequest: _Optional[_Union[GetOnlineUsersRequest, _Mapping]] = ..., GetOnlineUsersResponse: _Optional[_Union[GetOnlineUsersResponse, _Mapping]] = ..., SendChatMessageRequest: _Optional[_Union[SendChatMessageRequest, _Mapping]] = ..., ChatMessageNotification: _Optional[_Union[ChatMessageNotification, _Mapping]] = ..., UserLoginResponse: _Optional[_Union[UserLoginResponse, _Mapping]] = ..., UserConnectionStatusNotification: _Optional[_Union[UserConnectionStatusNotification, _Mapping]] = ...) -> None: ...
