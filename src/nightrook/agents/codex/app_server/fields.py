"""Every field that checked versions of the app server wrote, by type, to report unknown ones.

They are from recordings of 0.166.0 and from its schema. Objects that tools and users define, or
whose content is not used, are not checked.
"""

from collections.abc import Iterable, Mapping

_THREAD = """
    id environments extra sessionId forkedFromId parentThreadId preview ephemeral section
    sectionEnteredAt projectId historyMode modelProvider model reasoningEffort createdAt updatedAt
    recencyAt status path cwd cliVersion originator source canAcceptDirectInput threadSource
    agentNickname agentRole gitInfo name daybreakEnabled turns
"""
_ERROR = "message codexErrorInfo additionalDetails misalignment"
_TURN = """
    id rootTurnId items itemsView status error startedAt completedAt durationMs
"""
_TOKENS = """
    totalTokens inputTokens cachedInputTokens cacheWriteInputTokens outputTokens
    reasoningOutputTokens
"""
_WINDOW = "usedPercent windowDurationMins resetsAt"
_ITEMS: Mapping[str, str] = {
    "userMessage": "clientId content",
    "agentMessage": "text phase memoryCitation delivery questions",
    "reasoning": "summary content",
    "commandExecution": """
        pluginId scriptPath command cwd processId source status commandActions aggregatedOutput
        exitCode durationMs
    """,
    "fileChange": """
        status changes changes[].path changes[].diff changes[].kind changes[].kind.type
        changes[].kind.move_path
    """,
    "mcpToolCall": """
        server tool status arguments appContext mcpAppUi mcpAppResourceUri pluginId readOnlyHint
        result result.content result.structuredContent result._meta error error.message durationMs
    """,
    "webSearch": """
        query action action.type action.query action.queries action.url action.pattern results
    """,
    # The keys of `agentsStates` are threads.
    "collabAgentToolCall": """
        tool status senderThreadId receiverThreadIds prompt model reasoningEffort agentsStates
    """,
    "contextCompaction": "",
}


def _inside(holder: str, fields: str) -> Iterable[str]:
    """Fields of an object, and the object."""
    return (holder, *(f"{holder}.{field}" for field in fields.split()))


def _item(kind: str) -> frozenset[str]:
    fields = f"id type startedAtMs completedAtMs {_ITEMS[kind]}"
    return _params("threadId turnId startedAtMs completedAtMs", *_inside("item", fields))


def _params(fields: str, *more: str) -> frozenset[str]:
    """The fields of a notification or a request, given those of its parameters."""
    return frozenset({"method", "id", "emittedAtMs", *_inside("params", " ".join((fields, *more)))})


_PIECE = "threadId turnId itemId"

KNOWN_FIELDS: Mapping[str, frozenset[str]] = {
    "response": frozenset(
        {
            *("id", "error", "error.code", "error.message", "error.data"),
            *_inside(
                "result",
                """
                userAgent codexHome platformFamily platformOs model modelProvider serviceTier
                disabledPluginIds cwd runtimeWorkspaceRoots instructionSources approvalPolicy
                approvalsReviewer sandbox activePermissionProfile reasoningEffort multiAgentMode
                collaborationMode initialTurnsPage turnsBackwardsCursor itemsBackwardsCursor
                """,
            ),
            *_inside("result.thread", _THREAD),
            *_inside("result.turn", _TURN),
        }
    ),
    "thread/started": _params("", *_inside("thread", _THREAD)),
    "thread/status/changed": _params("threadId status"),
    "thread/settings/updated": _params("threadId threadSettings"),
    "thread/name/updated": _params("threadId threadName"),
    "thread/goal/cleared": _params("threadId"),
    "thread/tokenUsage/updated": _params(
        "threadId turnId tokenUsage tokenUsage.modelContextWindow",
        *_inside("tokenUsage.total", _TOKENS),
        *_inside("tokenUsage.last", _TOKENS),
    ),
    "turn/started": _params("threadId", *_inside("turn", _TURN)),
    "turn/completed": _params("threadId", *_inside("turn", _TURN), *_inside("turn.error", _ERROR)),
    "turn/plan/updated": _params("threadId turnId explanation plan plan[].step plan[].status"),
    "turn/diff/updated": _params("threadId turnId diff"),
    "item/agentMessage/delta": _params(f"{_PIECE} delta"),
    "item/reasoning/summaryTextDelta": _params(f"{_PIECE} delta summaryIndex"),
    "item/reasoning/summaryPartAdded": _params(f"{_PIECE} summaryIndex"),
    "item/commandExecution/outputDelta": _params(f"{_PIECE} delta"),
    "item/commandExecution/terminalInteraction": _params(f"{_PIECE} processId stdin"),
    "item/fileChange/patchUpdated": _params(f"{_PIECE} changes"),
    "item/commandExecution/requestApproval": _params(
        f"""
        {_PIECE} kind approvalId startedAtMs environmentId command cwd commandActions reason
        proposedExecpolicyAmendment availableDecisions networkApprovalContext
        proposedNetworkPolicyAmendments
        """
    ),
    "item/fileChange/requestApproval": _params(f"{_PIECE} startedAtMs reason grantRoot"),
    "item/permissions/requestApproval": _params(
        f"{_PIECE} startedAtMs reason permissions cwd environmentId"
    ),
    "item/tool/requestUserInput": _params(f"{_PIECE} questions autoResolutionMs isBlocking"),
    "item/tool/call": _params("threadId turnId callId namespace tool arguments"),
    "mcpServer/elicitation/request": _params(
        "threadId turnId serverName mode message requestedSchema elicitationId url _meta"
    ),
    "account/chatgptAuthTokens/refresh": _params("previousAccountId reason"),
    "attestation/generate": _params(""),
    "serverRequest/resolved": _params("threadId requestId"),
    "account/rateLimits/updated": _params(
        """
        rateLimits rateLimits.limitId rateLimits.limitName rateLimits.normalModelSlug
        rateLimits.credits rateLimits.individualLimit rateLimits.spendControlReached
        rateLimits.planType rateLimits.rateLimitReachedType
        """,
        *_inside("rateLimits.primary", _WINDOW),
        *_inside("rateLimits.secondary", _WINDOW),
    ),
    "model/rerouted": _params("threadId turnId fromModel toModel reason"),
    "error": _params("threadId turnId willRetry", *_inside("error", _ERROR)),
    "configWarning": _params("summary details path range"),
    "warning": _params("threadId message"),
    "deprecationNotice": _params("summary details"),
    "mcpServer/startupStatus/updated": _params("threadId name status error failureReason"),
    "remoteControl/status/changed": _params("status serverName installationId environmentId"),
    **{
        f"{stage}/{kind}": _item(kind)
        for stage in ("item/started", "item/completed")
        for kind in _ITEMS
    },
}
"""The fields of each type, as dotted paths; `response` is the response to a request of ours."""
