"""The shapes of GitHub Copilot CLI's messages and stored sessions, with the fields that are used.

All but the last have the same envelope; `agentId` is the subagent that a message is about.
"""

import msgspec

from nightrook.adapter.shapes import NOTHING, Count, ExitCode, Milliseconds, Shape


class _Data(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The payload of a message; frozen, so that messages without one can share it."""


class _Message(Shape, rename="camel"):
    agent_id: str | None = None


class ModelData(_Data, frozen=True):
    model: str | None = None


class ToolsUpdated(_Message, tag="session.tools_updated"):
    data: ModelData = ModelData()


class Server(Shape):
    name: str | None = None
    status: str | None = None


class ServersData(_Data, frozen=True):
    servers: list[Server] | None = None


class ServersLoaded(_Message, tag="session.mcp_servers_loaded"):
    data: ServersData = ServersData()


class UserData(_Data, frozen=True):
    content: str | None = None
    source: str | None = None


class UserMessage(_Message, tag="user.message"):
    data: UserData = UserData()


class DeltaData(_Data, frozen=True):
    message_id: str | None = None
    delta_content: str | None = None
    parent_tool_call_id: str | None = None


class MessageDelta(_Message, tag="assistant.message_delta"):
    data: DeltaData = DeltaData()


class MessageData(_Data, frozen=True):
    message_id: str | None = None
    model: str | None = None
    content: str | None = None
    reasoning_text: str | None = None
    parent_tool_call_id: str | None = None


class AssistantMessage(_Message, tag="assistant.message"):
    data: MessageData = MessageData()


class ReasoningData(_Data, frozen=True):
    reasoning_id: str | None = None
    delta_content: str | None = None
    content: str | None = None
    parent_tool_call_id: str | None = None


class ReasoningDelta(_Message, tag="assistant.reasoning_delta"):
    data: ReasoningData = ReasoningData()


class Reasoning(_Message, tag="assistant.reasoning"):
    data: ReasoningData = ReasoningData()


class CallDeltaData(_Data, frozen=True):
    tool_call_id: str | None = None
    tool_name: str | None = None
    input_delta: str | None = None
    parent_tool_call_id: str | None = None


class CallDelta(_Message, tag="assistant.tool_call_delta"):
    data: CallDeltaData = CallDeltaData()


class StartData(_Data, frozen=True):
    tool_call_id: str | None = None
    tool_name: str | None = None
    arguments: msgspec.Raw = NOTHING
    mcp_server_name: str | None = None
    mcp_tool_name: str | None = None
    parent_tool_call_id: str | None = None


class ToolStart(_Message, tag="tool.execution_start"):
    data: StartData = StartData()


class OutputData(_Data, frozen=True):
    tool_call_id: str | None = None
    text: str | None = None
    progress_message: str | None = None


class ShellOutput(_Message, tag="tool.shell_output"):
    """A piece of a command's output; `tool.execution_partial_result` repeats all pieces."""

    data: OutputData = OutputData()


class ToolProgress(_Message, tag="tool.execution_progress"):
    data: OutputData = OutputData()


class ResultContent(Shape):
    content: str | None = None


class ToolError(Shape):
    message: str | None = None
    code: str | None = None


class ShellExecution(Shape, rename="camel"):
    exit_code: ExitCode | None = None


class FileEdit(Shape):
    path: str | None = None
    kind: str | None = None


class Metrics(Shape, rename="camel"):
    lines_added: Count | None = None
    lines_removed: Count | None = None


class Telemetry(Shape):
    metrics: Metrics | None = None


class Completion(_Data, frozen=True):
    tool_call_id: str | None = None
    success: bool | None = None
    result: ResultContent | None = None
    error: ToolError | None = None
    shell_execution: ShellExecution | None = None
    file_edits: list[FileEdit] | None = None
    tool_telemetry: msgspec.Raw = NOTHING
    parent_tool_call_id: str | None = None


class ToolComplete(_Message, tag="tool.execution_complete"):
    data: Completion = Completion()


class SubagentData(_Data, frozen=True):
    tool_call_id: str | None = None
    agent_name: str | None = None
    agent_display_name: str | None = None
    agent_description: str | None = None
    execution_mode: str | None = None
    total_tokens: Count | None = None
    total_tool_calls: Count | None = None
    duration_ms: Milliseconds | None = None
    error: str | None = None


class SubagentStarted(_Message, tag="subagent.started"):
    data: SubagentData = SubagentData()


class SubagentCompleted(_Message, tag="subagent.completed"):
    data: SubagentData = SubagentData()


class SubagentFailed(_Message, tag="subagent.failed"):
    data: SubagentData = SubagentData()


class FailureData(_Data, frozen=True):
    status_code: Count | None = None
    retry_attempt: Count | None = None


class CallFailure(_Message, tag="model.call_failure"):
    data: FailureData = FailureData()


class RetryData(_Data, frozen=True):
    reason: str | None = None


class TurnRetry(_Message, tag="assistant.turn_retry"):
    data: RetryData = RetryData()


class Tokens(_Data, frozen=True):
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    reasoning_tokens: Count | None = None


class UsageData(Tokens, frozen=True):
    """The tokens of a request, which are reported for models of GitHub alone."""

    api_call_id: str | None = None
    model: str | None = None
    finish_reason: str | None = None
    parent_tool_call_id: str | None = None


class Usage(_Message, tag="assistant.usage"):
    data: UsageData = UsageData()


class ErrorData(_Data, frozen=True):
    error_type: str | None = None
    message: str | None = None
    status_code: Count | None = None


class SessionError(_Message, tag="session.error"):
    data: ErrorData = ErrorData()


class InfoData(_Data, frozen=True):
    info_type: str | None = None
    message: str | None = None


class Info(_Message, tag="session.info"):
    data: InfoData = InfoData()


class Warning(_Message, tag="session.warning"):
    data: InfoData = InfoData()


class CompactionData(_Data, frozen=True):
    success: bool | None = None
    pre_compaction_tokens: Count | None = None
    post_compaction_tokens: Count | None = None


class CompactionComplete(_Message, tag="session.compaction_complete"):
    data: CompactionData = CompactionData()


class ModelChangeData(_Data, frozen=True):
    previous_model: str | None = None
    new_model: str | None = None
    cause: str | None = None


class ModelChange(_Message, tag="session.model_change"):
    data: ModelChangeData = ModelChangeData()


class ModeData(_Data, frozen=True):
    new_mode: str | None = None
    mode: str | None = None


class ModeChanged(_Message, tag="session.mode_changed"):
    data: ModeData = ModeData()


class ModeNotice(_Message, tag="session.mode_notice_delivered"):
    data: ModeData = ModeData()


class HookData(_Data, frozen=True):
    hook_invocation_id: str | None = None
    hook_type: str | None = None
    success: bool | None = None


class HookStart(_Message, tag="hook.start"):
    data: HookData = HookData()


class HookEnd(_Message, tag="hook.end"):
    data: HookData = HookData()


class StoppedData(_Data, frozen=True):
    reason: str | None = None


class AutopilotStopped(_Message, tag="session.autopilot_stopped"):
    data: StoppedData = StoppedData()


class IdleData(_Data, frozen=True):
    aborted: bool | None = None


class Idle(_Message, tag="assistant.idle"):
    data: IdleData = IdleData()


class Abort(_Message, tag="abort"):
    data: StoppedData = StoppedData()


class Durations(Shape, rename="camel"):
    total_api_duration_ms: Milliseconds | None = None
    session_duration_ms: Milliseconds | None = None


class Result(Shape, tag="result", rename="camel"):
    """The last message of a run, unlike all others."""

    session_id: str | None = None
    exit_code: ExitCode | None = None
    usage: Durations | None = None


# Stored sessions


class _Stored(_Message):
    id: str | None = None
    timestamp: str | float | None = None


class Context(Shape):
    cwd: str | None = None
    branch: str | None = None


class SessionData(_Data, frozen=True):
    """Facts about a session; when its context changes, they are only those."""

    session_id: str | None = None
    copilot_version: str | None = None
    selected_model: str | None = None
    context: Context | None = None
    cwd: str | None = None
    branch: str | None = None


class SessionStart(_Stored, tag="session.start"):
    data: SessionData = SessionData()


class SessionResume(_Stored, tag="session.resume"):
    data: SessionData = SessionData()


class ContextChanged(_Stored, tag="session.context_changed"):
    data: SessionData = SessionData()


class StoredPrompt(_Stored, tag="user.message"):
    data: UserData = UserData()


class RecordData(_Data, frozen=True):
    usage: UsageData | None = None


class Record(_Stored, tag="session.usage_record"):
    """The tokens of a request. Its `cost` counts premium requests, not dollars."""

    data: RecordData = RecordData()


class ModelMetrics(Shape):
    usage: Tokens | None = None


class Snapshot(Shape):
    """The sums of the whole session, which 1.0.102 reports; those of each model say the same."""


class ShutdownData(_Data, frozen=True):
    model_metrics: dict[str, ModelMetrics] | None = None
    accounting_snapshot: Snapshot | None = None


class Shutdown(_Stored, tag="session.shutdown"):
    """The end of a process."""

    data: ShutdownData = ShutdownData()


_SILENT = """
    agent.interrupted assistant.intent assistant.message_start
    assistant.server_tool_progress assistant.streaming_delta assistant.turn_end
    assistant.turn_start auto_mode_switch.completed auto_mode_switch.requested
    capabilities.changed command.completed command.execute command.queued commands.changed
    elicitation.completed elicitation.requested exit_plan_mode.completed
    exit_plan_mode.requested external_tool.completed external_tool.requested hook.progress
    mcp.headers_refresh_completed mcp.headers_refresh_required mcp.oauth_completed
    mcp.oauth_recovery_completed mcp.oauth_required mcp.prompts.list_changed
    mcp.resources.list_changed mcp.tools.list_changed model.call_final_result
    model.call_finished model.call_start pending_messages.modified permission.completed
    permission.requested sampling.completed sampling.requested session.auto_mode_resolved
    session.background_tasks_changed session.compaction_start session.context_changed
    session.custom_agents_updated session.extensions_loaded session.idle
    session.mcp_server_needs_reconnect session.mcp_server_removed
    session.mcp_server_status_changed session.mcp_server_tools_loaded
    session.managed_settings_enforced session.managed_settings_resolved
    session.permissions_changed session.plan_changed session.quota_observation session.resume
    session.shutdown session.skills_loaded session.start session.task_complete
    session.title_changed session.todos_changed session.truncation session.usage_checkpoint
    session.usage_info session.workspace_file_changed skill.invoked subagent.configured
    subagent.deselected subagent.selected system.message system.notification
    tool.execution_partial_result tool_search.activated user_input.completed
    user_input.requested
"""

SILENT = tuple(_SILENT.split())
"""The types of messages without events: what they report is in others, or of no use here.

Those that no recording has are from the description of its events that 1.0.102 contains.
"""
