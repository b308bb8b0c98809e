"""Every field of the checked versions, by message type, to report unknown ones."""

from collections.abc import Mapping

CHECKED_VERSIONS = ("1.0.102",)
"""The versions of Copilot of which every field was checked; a stream does not name its own."""

_ENVELOPE = "type data id timestamp parentId ephemeral agentId"

_RESULT = """
    type timestamp sessionId exitCode usage usage.premiumRequests usage.totalApiDurationMs
    usage.sessionDurationMs usage.codeChanges
"""

_DATA: Mapping[str, str] = {
    "session.tools_updated": "model",
    "session.mcp_servers_loaded": "servers",
    "user.message": """
        agentMode attachments content delivery interactionId isAutopilotContinuation
        messageId nativeDocumentPathFallbackPaths parentAgentTaskId responsesReasoning
        source supportedNativeDocumentMimeTypes transformedContent turnId
    """,
    "assistant.message_delta": "deltaContent messageId parentToolCallId",
    "assistant.message": """
        apiCallId chunkCount chunkIndex citations clientRequestId content
        encryptedContent fusion interactionId messageId model originatingMessageId
        outputTokens parentToolCallId phase providerId reasoningBlocks reasoningOpaque
        reasoningText reasoningWireField requestId rte serverTools serviceRequestId
        toolRequests turnId
    """,
    "assistant.reasoning_delta": "deltaContent reasoningId",
    "assistant.reasoning": "content reasoningId rte",
    "assistant.tool_call_delta": "inputDelta toolCallId toolName toolType",
    "tool.execution_start": """
        arguments displayVerbatim fusion mcpConfigServerName mcpConfigSource
        mcpServerName mcpToolName mcpTransport model parentToolCallId rte shellToolInfo
        toolCallId toolDescription toolName toolTitle turnId
    """,
    "tool.shell_output": "fusion sequence stream text toolCallId",
    "tool.execution_progress": "progressMessage structuredContent toolCallId",
    "tool.execution_complete": """
        error fileEdits fusion interactionId isUserRequested mcpMeta model
        parentToolCallId result rte sandboxed shellExecution success toolCallId
        toolDescription toolTelemetry toolUsage turnId
    """,
    "subagent.started": """
        agentDescription agentDisplayName agentName agentType executionMode model
        modelSelectionSource parentId resumable taskModelSource toolCallId workflowRunId
    """,
    "subagent.completed": """
        agentDisplayName agentName cancelled configuredModelMatchesActual
        configuredModelPreference durationMs explicitModelMatchesPreference
        explicitModelOverride firstDispatchedModel model modelOverrideReason
        modelSelectionSource toolCallId totalTokens totalToolCalls
    """,
    "subagent.failed": """
        agentDisplayName agentName configuredModelMatchesActual
        configuredModelPreference durationMs error explicitModelMatchesPreference
        explicitModelOverride firstDispatchedModel model modelOverrideReason
        modelSelectionSource toolCallId totalTokens totalToolCalls
    """,
    "model.call_failure": """
        apiCallId apiEndpoint badRequestKind byokKind durationMs errorCode errorMessage
        errorType failureKind fusion initiator interactionType isAuto isByok
        maxOutputTokens maxPromptTokens model modelProvider parentToolCallId
        providerCallId providerType reasoningEffort requestBodyBytes
        requestBodyCompressionFallback requestBodyCompressionFallbackFrom
        requestBodyCompressionRejectedStatus requestBodyEncoding requestBodyWireBytes
        requestFingerprint retryAttempt rte serviceRequestId source statusCode transport
        websocketFallbackAfterMs websocketFallbackCloseCode websocketFallbackErrorKind
        websocketFallbackReason websocketFallbackReconnectAttempted
        websocketFallbackStartedThisCall websocketFallbackStatusCode
    """,
    "assistant.turn_retry": "model reason turnId",
    "assistant.usage": """
        acceptedPredictionTokens accounting aiCreditsStatus apiCallId apiEndpoint
        byokKind cacheExpiresAt cacheReadTokens cacheWriteTokens contentFilterTriggered
        copilotUsage cost duration finishReason fusion initiator inputTokens
        interTokenLatencyMs interactionType isAuto isByok maxOutputTokens
        maxPromptTokens model modelDisplayName modelProvider outputTokens outputTtftMs
        parentToolCallId provider providerCallId reasoningEffort reasoningSummary
        reasoningTokens rejectedPredictionTokens requestBodyBytes
        requestBodyCompressionFallback requestBodyCompressionFallbackFrom
        requestBodyCompressionRejectedStatus requestBodyEncoding requestBodyWireBytes
        rte serviceRequestId timeToFirstTokenMs transport websocketFallbackAfterMs
        websocketFallbackCloseCode websocketFallbackErrorKind websocketFallbackReason
        websocketFallbackReconnectAttempted websocketFallbackStartedThisCall
        websocketFallbackStatusCode
    """,
    "session.error": """
        eligibleForAutoSwitch errorCode errorType message originatingMessageId
        providerCallId providerErrorParam providerErrorType remediation serviceRequestId
        stack statusCode url
    """,
    "session.info": "infoType message tip url",
    "session.warning": "message originatingMessageId remediation url warningType",
    "session.compaction_complete": """
        behaviorModelId checkpointNumber checkpointPath compactionAttemptId
        compactionTokensUsed conversationTokens customInstructions error failureReason
        initialModel messagesRemoved model outcome outcomeReason postCompactionTokens
        preCompactionMessagesLength preCompactionTokens requestId responsesReasoning
        serviceRequestId statusCode success summaryContent switchTargetModel
        systemTokens targetPromptTokenLimit tokenAccountingBasis tokenLimit
        tokensRemoved toolDefinitionsTokens trigger
    """,
    "session.model_change": """
        autoTier autoTierManaged cause contextTier contextTierManaged newModel
        previousAutoTier previousModel previousProviderId previousReasoningEffort
        previousReasoningSummary previousVerbosity providerId reasoningEffort
        reasoningEffortManaged reasoningEffortModel reasoningSummary source verbosity
    """,
    "session.mode_changed": "newMode previousMode",
    "session.mode_notice_delivered": "content mode",
    "hook.start": "hookInvocationId hookType input parentToolCallId",
    "hook.end": """
        error hookInvocationId hookType output parentToolCallId success
    """,
    "session.autopilot_stopped": "reason requestId",
    "assistant.idle": "aborted",
    "abort": "reason",
}
"""The fields of `data`, from recordings and from the description of its events in 1.0.102."""

KNOWN_FIELDS: Mapping[str, frozenset[str]] = {
    **{
        type: frozenset([*_ENVELOPE.split(), *(f"data.{field}" for field in fields.split())])
        for type, fields in _DATA.items()
    },
    "result": frozenset(_RESULT.split()),
}
