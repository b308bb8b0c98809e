"""The fields that the checked versions of each agent wrote, by type of message, for `Drift`.

Generated from the recorded streams in tests/agents and the `fields.toml` there by `make docs`; do
not edit. It is a module because the agents, which use it, never open a file.
"""

from collections.abc import Mapping

KNOWN_FIELDS: Mapping[str, Mapping[str, str]] = {
    "amp": {
        "assistant": """
            message.content[].data message.content[].id message.content[].input
            message.content[].name message.content[].signature message.content[].text
            message.content[].thinking message.content[].type message.role message.stop_reason
            message.type message.usage.cache_creation_input_tokens
            message.usage.cache_read_input_tokens message.usage.input_tokens
            message.usage.max_tokens message.usage.output_tokens message.usage.service_tier
            parent_tool_use_id session_id type
        """,
        "result": """
            duration_ms error is_error num_turns parent_tool_use_id permission_denials result
            session_id subtype type usage.cache_creation_input_tokens usage.cache_read_input_tokens
            usage.input_tokens usage.max_tokens usage.output_tokens usage.service_tier
        """,
        "system": """
            agent_mode cwd mcp_servers[].name mcp_servers[].status parent_tool_use_id session_id
            subtype tools type
        """,
        "user": """
            message.content[].content message.content[].is_error message.content[].text
            message.content[].tool_use_id message.content[].type message.role parent_tool_use_id
            session_id type
        """,
    },
    "claude": {
        "assistant": """
            aborted agent_id api_error api_error_params.cut
            api_error_params.rate_limit_info.isUsingOverage
            api_error_params.rate_limit_info.overageDisabledReason
            api_error_params.rate_limit_info.overageStatus
            api_error_params.rate_limit_info.rateLimitType api_error_params.rate_limit_info.resetsAt
            api_error_params.rate_limit_info.status api_error_status api_error_type context_usage
            error is_api_error_message local_command_outcome.kind local_command_run.args
            local_command_run.command local_command_source message.container
            message.content[].content[].encrypted_content message.content[].content[].page_age
            message.content[].content[].title message.content[].content[].type
            message.content[].content[].url message.content[].data message.content[].id
            message.content[].input message.content[].name message.content[].signature
            message.content[].text message.content[].thinking message.content[].tool_use_id
            message.content[].type message.context_management message.diagnostics message.id
            message.model message.role message.stop_details.category
            message.stop_details.explanation message.stop_details.type message.stop_reason
            message.stop_sequence message.type
            message.usage.cache_creation.ephemeral_1h_input_tokens
            message.usage.cache_creation.ephemeral_5m_input_tokens
            message.usage.cache_creation_input_tokens message.usage.cache_read_input_tokens
            message.usage.fallback_credit message.usage.inference_geo message.usage.input_tokens
            message.usage.iterations message.usage.output_tokens
            message.usage.output_tokens_details.thinking_tokens
            message.usage.server_tool_use.web_fetch_requests
            message.usage.server_tool_use.web_search_requests message.usage.service_tier
            message.usage.speed parent_tool_use_id refused_message_id request_id session_id
            subagent_type task_description thinking_display thinking_duration_ms timestamp
            tool_use_meta[].display_name tool_use_meta[].id tool_use_meta[].server_display_name
            tool_use_meta[].tool_name type user_message_uuid user_message_uuids uuid
        """,
        "command_lifecycle": "command_uuid session_id state type uuid",
        "control_request": """
            request.blocked_path request.decision_reason request.decision_reason_type
            request.description request.display_name request.input
            request.permission_suggestions[].behavior request.permission_suggestions[].destination
            request.permission_suggestions[].directories request.permission_suggestions[].mode
            request.permission_suggestions[].rules[].ruleContent
            request.permission_suggestions[].rules[].toolName request.permission_suggestions[].type
            request.requires_user_interaction request.subtype request.tool_name request.tool_use_id
            request_id type
        """,
        "control_response": """
            response.pending_permission_requests response.pending_user_dialog_requests
            response.request_id response.response response.subtype type
        """,
        "conversation_reset": """
            new_conversation_id session_id timestamp trigger type user_message_uuid uuid
        """,
        "rate_limit_event": """
            rate_limit_info.isUsingOverage rate_limit_info.overageDisabledReason
            rate_limit_info.overageStatus rate_limit_info.rateLimitType rate_limit_info.resetsAt
            rate_limit_info.status rate_limit_info.surpassedThreshold
            rate_limit_info.unifiedWindows.five_hour.resetsAt
            rate_limit_info.unifiedWindows.five_hour.status
            rate_limit_info.unifiedWindows.five_hour.surpassedThreshold
            rate_limit_info.unifiedWindows.five_hour.utilization
            rate_limit_info.unifiedWindows.seven_day.resetsAt
            rate_limit_info.unifiedWindows.seven_day.status
            rate_limit_info.unifiedWindows.seven_day.utilization rate_limit_info.utilization
            session_id type uuid
        """,
        "result": """
            api_error api_error_status api_error_type cost_usd duration_api_ms duration_ms errors
            fast_mode_disabled_reason fast_mode_state first_content_frame_ms
            first_request_cache_read_input_tokens first_request_input_tokens is_error local_command
            modelUsage model_usage_since_last_result num_turns origin.kind origin.producer
            origin.runId permission_denials[].tool_input permission_denials[].tool_name
            permission_denials[].tool_use_id queued_turn_count request_sent_wall_ms result
            result_index safety_stops session_id stop_reason structured_output subagent_stats
            subtype terminal_reason time_to_request_ms total_cost_usd ttft_ms ttft_stream_ms type
            usage.cache_creation.ephemeral_1h_input_tokens
            usage.cache_creation.ephemeral_5m_input_tokens usage.cache_creation_input_tokens
            usage.cache_read_input_tokens usage.fallback_credit usage.inference_geo
            usage.input_tokens usage.iterations usage.output_tokens
            usage.output_tokens_details.thinking_tokens usage.server_tool_use.web_fetch_requests
            usage.server_tool_use.web_search_requests usage.service_tier usage.speed
            user_message_uuid user_message_uuids uuid
        """,
        "stream_event": """
            abandoned_blocks.api_message_id abandoned_blocks.from_block_index api_message_id
            event.content_block.content event.content_block.id event.content_block.input
            event.content_block.name event.content_block.signature event.content_block.text
            event.content_block.thinking event.content_block.tool_use_id event.content_block.type
            event.context_management event.delta.container event.delta.partial_json
            event.delta.signature event.delta.stop_details.category
            event.delta.stop_details.explanation event.delta.stop_details.type
            event.delta.stop_reason event.delta.stop_sequence event.delta.text event.delta.thinking
            event.delta.type event.index event.message.content[].id event.message.content[].input
            event.message.content[].name event.message.content[].signature
            event.message.content[].text event.message.content[].thinking
            event.message.content[].type event.message.id event.message.model event.message.role
            event.message.stop_reason event.message.stop_sequence event.message.type
            event.message.usage.cache_creation.ephemeral_1h_input_tokens
            event.message.usage.cache_creation.ephemeral_5m_input_tokens
            event.message.usage.cache_creation_input_tokens
            event.message.usage.cache_read_input_tokens event.message.usage.input_tokens
            event.message.usage.output_tokens
            event.message.usage.server_tool_use.web_search_requests event.message.usage.service_tier
            event.type event.usage.cache_creation_input_tokens event.usage.cache_read_input_tokens
            event.usage.fallback_credit event.usage.input_tokens event.usage.iterations
            event.usage.output_tokens event.usage.output_tokens_details.thinking_tokens
            event.usage.server_tool_use.web_fetch_requests
            event.usage.server_tool_use.web_search_requests parent_tool_use_id session_id
            thinking_display ttft_ms type uuid
        """,
        "system/api_retry": """
            attempt error error_status max_retries retry_delay_ms session_id subtype type uuid
        """,
        "system/background_tasks_changed": """
            session_id subtype tasks[].description tasks[].run_id tasks[].subagent_type
            tasks[].task_id tasks[].task_type type uuid
        """,
        "system/compact_boundary": """
            compact_metadata.cumulative_dropped_tokens compact_metadata.duration_ms
            compact_metadata.post_tokens compact_metadata.pre_tokens
            compact_metadata.preserved_messages.all_uuids
            compact_metadata.preserved_messages.anchor_uuid
            compact_metadata.preserved_messages.uuids compact_metadata.preserved_segment.anchor_uuid
            compact_metadata.preserved_segment.head_uuid
            compact_metadata.preserved_segment.tail_uuid compact_metadata.trigger
            logical_parent_uuid session_id subtype type uuid
        """,
        "system/hook_progress": """
            hook_event hook_id hook_name output session_id stderr stdout subtype type uuid
        """,
        "system/hook_response": """
            exit_code hook_event hook_id hook_name outcome output session_id stderr stdout subtype
            type uuid
        """,
        "system/hook_started": "hook_event hook_id hook_name session_id subtype type uuid",
        "system/informational": """
            content level prevent_continuation prompt_submit_outcome.kind
            prompt_submit_outcome.prompt_kept prompt_submit_outcome.reason session_id subtype type
            uuid
        """,
        "system/init": """
            additional_directories agents analytics_disabled apiKeySource capabilities
            claude_code_version cwd fast_mode_disabled_reason fast_mode_state mcp_servers[].name
            mcp_servers[].source mcp_servers[].status memory_paths messaging_socket_path model
            original_cwd output_style per_turn_effort_active permissionMode plugins[].name
            plugins[].path plugins[].source product_feedback_disabled session_id skills
            slash_commands subtype terminal_slash_commands tools type ultrathink_available
            ultrathink_typed_raises user_message_uuids uuid view_mode
        """,
        "system/model_fallback": """
            content fallback_model original_model session_id subtype trigger type uuid
        """,
        "system/model_refusal_no_fallback": """
            api_refusal_category api_refusal_explanation content original_model
            refused_user_message_uuid request_id session_id subtype type uuid
        """,
        "system/notification": "key priority session_id subtype text type uuid",
        "system/permission_denied": """
            agent_id decision_reason decision_reason_type message session_id subtype tool_name
            tool_use_id type uuid
        """,
        "system/session_state_changed": "session_id state subtype type uuid",
        "system/status": """
            compact_error compact_output_chars compact_result permissionMode session_id status
            subtype type uuid
        """,
        "system/task_notification": """
            output_file run_id session_id status subtype summary task_id tool_use_id type
            usage.duration_ms usage.tool_uses usage.total_tokens uuid
        """,
        "system/task_progress": """
            description last_tool_name run_id session_id subagent_type subtype task_id tool_use_id
            type usage.duration_ms usage.tool_uses usage.total_tokens uuid
        """,
        "system/task_started": """
            description is_backgrounded prompt run_id session_id spawn_depth subagent_type subtype
            task_id task_type tool_use_id type uuid
        """,
        "system/task_updated": """
            patch.end_time patch.error patch.status run_id session_id subtype task_id type uuid
        """,
        "system/thinking_tokens": """
            estimated_tokens estimated_tokens_delta session_id subtype type uuid
        """,
        "system/ui_invalidate": "event session_id subtype type uuid",
        "tool_progress": """
            elapsed_time_seconds heartbeat parent_tool_use_id session_id tool_name tool_use_id type
            uuid
        """,
        "tool_use_summary": "preceding_tool_use_ids session_id summary type uuid",
        "user": """
            agent_id isReplay isSynthetic message.content[].content[].source
            message.content[].content[].text message.content[].content[].tool_name
            message.content[].content[].type message.content[].error message.content[].is_error
            message.content[].source.data message.content[].source.media_type
            message.content[].source.type message.content[].text message.content[].tool_use_id
            message.content[].type message.role parent_tool_use_id refused_message_id session_id
            subagent_type task_description timestamp tool_result_meta[].id
            tool_result_meta[].non_execution_kind tool_result_meta[].permission_decision.decision
            tool_result_meta[].permission_decision.reason_type
            tool_result_meta[].permission_decision.source tool_use_result type uuid
        """,
    },
    "cline": {
        "agent_event": """
            event.accumulated event.cacheReadTokens event.cacheWriteTokens event.contentType
            event.cost event.displayRole event.durationMs event.error.message event.error.name
            event.error.stack event.errorClass event.hadToolCalls event.input event.inputTokens
            event.iteration event.iterations event.message event.metadata event.noticeType
            event.output event.outputTokens event.reason event.reasoning event.recoverable
            event.redacted event.text event.toolCallCount event.toolCallId event.toolName
            event.totalCacheReadTokens event.totalCacheWriteTokens event.totalCost
            event.totalInputTokens event.totalOutputTokens event.type event.update event.usage ts
            type
        """,
        "hook_event": "agentId hookEventName parentAgentId taskId ts type",
        "run_aborted": "message reason ts type",
        "run_result": """
            aggregateUsage.cacheReadTokens aggregateUsage.cacheWriteTokens
            aggregateUsage.inputTokens aggregateUsage.outputTokens aggregateUsage.totalCost
            durationMs finishReason iterations model.id model.provider text ts type
            usage.cacheReadTokens usage.cacheWriteTokens usage.inputTokens usage.outputTokens
            usage.totalCost
        """,
    },
    "codex": {
        "error": "message type",
        "item.completed/agent_message": "item.id item.text item.type type",
        "item.completed/collab_tool_call": """
            item.agents_states item.id item.prompt item.receiver_thread_ids item.sender_thread_id
            item.status item.tool item.type type
        """,
        "item.completed/command_execution": """
            item.aggregated_output item.command item.exit_code item.id item.status item.type type
        """,
        "item.completed/error": "item.id item.message item.type type",
        "item.completed/file_change": """
            item.changes[].kind item.changes[].path item.id item.status item.type type
        """,
        "item.completed/mcp_tool_call": """
            item.arguments item.error.message item.id item.result._meta item.result.content
            item.result.structured_content item.server item.status item.tool item.type type
        """,
        "item.completed/reasoning": "item.id item.text item.type type",
        "item.completed/todo_list": """
            item.id item.items[].completed item.items[].text item.type type
        """,
        "item.completed/web_search": """
            item.action.pattern item.action.queries item.action.query item.action.type
            item.action.url item.id item.query item.type type
        """,
        "item.started/agent_message": "item.id item.text item.type type",
        "item.started/collab_tool_call": """
            item.agents_states item.id item.prompt item.receiver_thread_ids item.sender_thread_id
            item.status item.tool item.type type
        """,
        "item.started/command_execution": """
            item.aggregated_output item.command item.exit_code item.id item.status item.type type
        """,
        "item.started/error": "item.id item.message item.type type",
        "item.started/file_change": """
            item.changes[].kind item.changes[].path item.id item.status item.type type
        """,
        "item.started/mcp_tool_call": """
            item.arguments item.error.message item.id item.result._meta item.result.content
            item.result.structured_content item.server item.status item.tool item.type type
        """,
        "item.started/reasoning": "item.id item.text item.type type",
        "item.started/todo_list": """
            item.id item.items[].completed item.items[].text item.type type
        """,
        "item.started/web_search": """
            item.action.pattern item.action.queries item.action.query item.action.type
            item.action.url item.id item.query item.type type
        """,
        "item.updated/agent_message": "item.id item.text item.type type",
        "item.updated/collab_tool_call": """
            item.agents_states item.id item.prompt item.receiver_thread_ids item.sender_thread_id
            item.status item.tool item.type type
        """,
        "item.updated/command_execution": """
            item.aggregated_output item.command item.exit_code item.id item.status item.type type
        """,
        "item.updated/error": "item.id item.message item.type type",
        "item.updated/file_change": """
            item.changes[].kind item.changes[].path item.id item.status item.type type
        """,
        "item.updated/mcp_tool_call": """
            item.arguments item.error.message item.id item.result._meta item.result.content
            item.result.structured_content item.server item.status item.tool item.type type
        """,
        "item.updated/reasoning": "item.id item.text item.type type",
        "item.updated/todo_list": """
            item.id item.items[].completed item.items[].text item.type type
        """,
        "item.updated/web_search": """
            item.action.pattern item.action.queries item.action.query item.action.type
            item.action.url item.id item.query item.type type
        """,
        "thread.started": "thread_id type",
        "turn.completed": """
            type usage.cache_write_input_tokens usage.cached_input_tokens usage.input_tokens
            usage.output_tokens usage.reasoning_output_tokens
        """,
        "turn.failed": "error.message type",
        "turn.started": "type",
    },
    "codex/app_server": {
        "account/chatgptAuthTokens/refresh": """
            emittedAtMs id method params.previousAccountId params.reason
        """,
        "account/rateLimits/updated": """
            emittedAtMs id method params.rateLimits.credits params.rateLimits.individualLimit
            params.rateLimits.limitId params.rateLimits.limitName params.rateLimits.normalModelSlug
            params.rateLimits.planType params.rateLimits.primary.resetsAt
            params.rateLimits.primary.usedPercent params.rateLimits.primary.windowDurationMins
            params.rateLimits.rateLimitReachedType params.rateLimits.secondary.resetsAt
            params.rateLimits.secondary.usedPercent params.rateLimits.secondary.windowDurationMins
            params.rateLimits.spendControlReached
        """,
        "attestation/generate": "emittedAtMs id method params",
        "configWarning": """
            emittedAtMs id method params.details params.path params.range params.summary
        """,
        "deprecationNotice": "emittedAtMs id method params.details params.summary",
        "error": """
            emittedAtMs id method params.error.additionalDetails params.error.codexErrorInfo
            params.error.message params.error.misalignment params.threadId params.turnId
            params.willRetry
        """,
        "item/agentMessage/delta": """
            emittedAtMs id method params.delta params.itemId params.threadId params.turnId
        """,
        "item/commandExecution/outputDelta": """
            emittedAtMs id method params.delta params.itemId params.threadId params.turnId
        """,
        "item/commandExecution/requestApproval": """
            emittedAtMs id method params.approvalId params.availableDecisions params.command
            params.commandActions params.cwd params.environmentId params.itemId params.kind
            params.networkApprovalContext params.proposedExecpolicyAmendment
            params.proposedNetworkPolicyAmendments params.reason params.startedAtMs params.threadId
            params.turnId
        """,
        "item/commandExecution/terminalInteraction": """
            emittedAtMs id method params.itemId params.processId params.stdin params.threadId
            params.turnId
        """,
        "item/completed/agentMessage": """
            emittedAtMs id method params.completedAtMs params.item.completedAtMs
            params.item.delivery params.item.id params.item.memoryCitation params.item.phase
            params.item.questions params.item.startedAtMs params.item.text params.item.type
            params.startedAtMs params.threadId params.turnId
        """,
        "item/completed/collabAgentToolCall": """
            emittedAtMs id method params.completedAtMs params.item.agentsStates
            params.item.completedAtMs params.item.id params.item.model params.item.prompt
            params.item.reasoningEffort params.item.receiverThreadIds params.item.senderThreadId
            params.item.startedAtMs params.item.status params.item.tool params.item.type
            params.startedAtMs params.threadId params.turnId
        """,
        "item/completed/commandExecution": """
            emittedAtMs id method params.completedAtMs params.item.aggregatedOutput
            params.item.command params.item.commandActions params.item.completedAtMs params.item.cwd
            params.item.durationMs params.item.exitCode params.item.id params.item.pluginId
            params.item.processId params.item.scriptPath params.item.source params.item.startedAtMs
            params.item.status params.item.type params.startedAtMs params.threadId params.turnId
        """,
        "item/completed/contextCompaction": """
            emittedAtMs id method params.completedAtMs params.item.completedAtMs params.item.id
            params.item.startedAtMs params.item.type params.startedAtMs params.threadId
            params.turnId
        """,
        "item/completed/fileChange": """
            emittedAtMs id method params.completedAtMs params.item.changes[].diff
            params.item.changes[].kind.move_path params.item.changes[].kind.type
            params.item.changes[].path params.item.completedAtMs params.item.id
            params.item.startedAtMs params.item.status params.item.type params.startedAtMs
            params.threadId params.turnId
        """,
        "item/completed/imageView": """
            emittedAtMs id method params.completedAtMs params.contentTokenCount
            params.item.completedAtMs params.item.id params.item.path params.item.startedAtMs
            params.item.type params.startedAtMs params.threadId params.turnId
        """,
        "item/completed/mcpToolCall": """
            emittedAtMs id method params.completedAtMs params.item.appContext params.item.arguments
            params.item.completedAtMs params.item.durationMs params.item.error.message
            params.item.id params.item.mcpAppResourceUri params.item.mcpAppUi params.item.pluginId
            params.item.readOnlyHint params.item.result._meta params.item.result.content
            params.item.result.structuredContent params.item.server params.item.startedAtMs
            params.item.status params.item.tool params.item.type params.startedAtMs params.threadId
            params.turnId
        """,
        "item/completed/reasoning": """
            emittedAtMs id method params.completedAtMs params.item.completedAtMs params.item.content
            params.item.id params.item.startedAtMs params.item.summary params.item.type
            params.startedAtMs params.threadId params.turnId
        """,
        "item/completed/userMessage": """
            emittedAtMs id method params.completedAtMs params.item.clientId
            params.item.completedAtMs params.item.content params.item.id params.item.startedAtMs
            params.item.type params.startedAtMs params.threadId params.turnId
        """,
        "item/completed/webSearch": """
            emittedAtMs id method params.completedAtMs params.item.action.pattern
            params.item.action.queries params.item.action.query params.item.action.type
            params.item.action.url params.item.completedAtMs params.item.id params.item.query
            params.item.results params.item.startedAtMs params.item.type params.startedAtMs
            params.threadId params.turnId
        """,
        "item/fileChange/patchUpdated": """
            emittedAtMs id method params.changes params.itemId params.threadId params.turnId
        """,
        "item/fileChange/requestApproval": """
            emittedAtMs id method params.grantRoot params.itemId params.reason params.startedAtMs
            params.threadId params.turnId
        """,
        "item/permissions/requestApproval": """
            emittedAtMs id method params.cwd params.environmentId params.itemId params.permissions
            params.reason params.startedAtMs params.threadId params.turnId
        """,
        "item/reasoning/summaryPartAdded": """
            emittedAtMs id method params.itemId params.summaryIndex params.threadId params.turnId
        """,
        "item/reasoning/summaryTextDelta": """
            emittedAtMs id method params.delta params.itemId params.summaryIndex params.threadId
            params.turnId
        """,
        "item/started/agentMessage": """
            emittedAtMs id method params.completedAtMs params.item.completedAtMs
            params.item.delivery params.item.id params.item.memoryCitation params.item.phase
            params.item.questions params.item.startedAtMs params.item.text params.item.type
            params.startedAtMs params.threadId params.turnId
        """,
        "item/started/collabAgentToolCall": """
            emittedAtMs id method params.completedAtMs params.item.agentsStates
            params.item.completedAtMs params.item.id params.item.model params.item.prompt
            params.item.reasoningEffort params.item.receiverThreadIds params.item.senderThreadId
            params.item.startedAtMs params.item.status params.item.tool params.item.type
            params.startedAtMs params.threadId params.turnId
        """,
        "item/started/commandExecution": """
            emittedAtMs id method params.completedAtMs params.item.aggregatedOutput
            params.item.command params.item.commandActions params.item.completedAtMs params.item.cwd
            params.item.durationMs params.item.exitCode params.item.id params.item.pluginId
            params.item.processId params.item.scriptPath params.item.source params.item.startedAtMs
            params.item.status params.item.type params.startedAtMs params.threadId params.turnId
        """,
        "item/started/contextCompaction": """
            emittedAtMs id method params.completedAtMs params.item.completedAtMs params.item.id
            params.item.startedAtMs params.item.type params.startedAtMs params.threadId
            params.turnId
        """,
        "item/started/fileChange": """
            emittedAtMs id method params.completedAtMs params.item.changes[].diff
            params.item.changes[].kind.move_path params.item.changes[].kind.type
            params.item.changes[].path params.item.completedAtMs params.item.id
            params.item.startedAtMs params.item.status params.item.type params.startedAtMs
            params.threadId params.turnId
        """,
        "item/started/imageView": """
            emittedAtMs id method params.completedAtMs params.item.completedAtMs params.item.id
            params.item.path params.item.startedAtMs params.item.type params.startedAtMs
            params.threadId params.turnId
        """,
        "item/started/mcpToolCall": """
            emittedAtMs id method params.completedAtMs params.item.appContext params.item.arguments
            params.item.completedAtMs params.item.durationMs params.item.error.message
            params.item.id params.item.mcpAppResourceUri params.item.mcpAppUi params.item.pluginId
            params.item.readOnlyHint params.item.result._meta params.item.result.content
            params.item.result.structuredContent params.item.server params.item.startedAtMs
            params.item.status params.item.tool params.item.type params.startedAtMs params.threadId
            params.turnId
        """,
        "item/started/reasoning": """
            emittedAtMs id method params.completedAtMs params.item.completedAtMs params.item.content
            params.item.id params.item.startedAtMs params.item.summary params.item.type
            params.startedAtMs params.threadId params.turnId
        """,
        "item/started/userMessage": """
            emittedAtMs id method params.completedAtMs params.item.clientId
            params.item.completedAtMs params.item.content params.item.id params.item.startedAtMs
            params.item.type params.startedAtMs params.threadId params.turnId
        """,
        "item/started/webSearch": """
            emittedAtMs id method params.completedAtMs params.item.action.pattern
            params.item.action.queries params.item.action.query params.item.action.type
            params.item.action.url params.item.completedAtMs params.item.id params.item.query
            params.item.results params.item.startedAtMs params.item.type params.startedAtMs
            params.threadId params.turnId
        """,
        "item/tool/call": """
            emittedAtMs id method params.arguments params.callId params.namespace params.threadId
            params.tool params.turnId
        """,
        "item/tool/requestUserInput": """
            emittedAtMs id method params.autoResolutionMs params.isBlocking params.itemId
            params.questions params.threadId params.turnId
        """,
        "mcpServer/elicitation/request": """
            emittedAtMs id method params._meta params.elicitationId params.message params.mode
            params.requestedSchema params.serverName params.threadId params.turnId params.url
        """,
        "mcpServer/startupStatus/updated": """
            emittedAtMs id method params.error params.failureReason params.name params.status
            params.threadId
        """,
        "model/rerouted": """
            emittedAtMs id method params.fromModel params.reason params.threadId params.toModel
            params.turnId
        """,
        "remoteControl/status/changed": """
            emittedAtMs id method params.environmentId params.installationId params.serverName
            params.status
        """,
        "response": """
            error.code error.data error.message id result.activePermissionProfile
            result.approvalPolicy result.approvalsReviewer result.codexHome result.collaborationMode
            result.cwd result.disabledPluginIds result.initialTurnsPage result.instructionSources
            result.itemsBackwardsCursor result.model result.modelProvider result.multiAgentMode
            result.platformFamily result.platformOs result.reasoningEffort
            result.runtimeWorkspaceRoots result.sandbox result.serviceTier
            result.thread.agentNickname result.thread.agentRole result.thread.canAcceptDirectInput
            result.thread.cliVersion result.thread.createdAt result.thread.cwd
            result.thread.daybreakEnabled result.thread.environments result.thread.ephemeral
            result.thread.extra result.thread.forkedFromId result.thread.gitInfo
            result.thread.historyMode result.thread.id result.thread.model
            result.thread.modelProvider result.thread.name result.thread.originator
            result.thread.parentThreadId result.thread.path result.thread.preview
            result.thread.projectId result.thread.reasoningEffort result.thread.recencyAt
            result.thread.section result.thread.sectionEnteredAt result.thread.sessionId
            result.thread.source result.thread.status result.thread.threadSource result.thread.turns
            result.thread.updatedAt result.turn.completedAt result.turn.durationMs result.turn.error
            result.turn.id result.turn.items result.turn.itemsView result.turn.rootTurnId
            result.turn.startedAt result.turn.status result.turnsBackwardsCursor result.userAgent
        """,
        "serverRequest/resolved": "emittedAtMs id method params.requestId params.threadId",
        "thread/goal/cleared": "emittedAtMs id method params.threadId",
        "thread/goal/updated": """
            emittedAtMs id method params.goal.createdAt params.goal.objective params.goal.status
            params.goal.threadId params.goal.timeUsedSeconds params.goal.tokenBudget
            params.goal.tokensUsed params.goal.updatedAt params.threadId params.turnId
        """,
        "thread/name/updated": "emittedAtMs id method params.threadId params.threadName",
        "thread/settings/updated": "emittedAtMs id method params.threadId params.threadSettings",
        "thread/started": """
            emittedAtMs id method params.thread.agentNickname params.thread.agentRole
            params.thread.canAcceptDirectInput params.thread.cliVersion params.thread.createdAt
            params.thread.cwd params.thread.daybreakEnabled params.thread.environments
            params.thread.ephemeral params.thread.extra params.thread.forkedFromId
            params.thread.gitInfo params.thread.historyMode params.thread.id params.thread.model
            params.thread.modelProvider params.thread.name params.thread.originator
            params.thread.parentThreadId params.thread.path params.thread.preview
            params.thread.projectId params.thread.reasoningEffort params.thread.recencyAt
            params.thread.section params.thread.sectionEnteredAt params.thread.sessionId
            params.thread.source params.thread.status params.thread.threadSource params.thread.turns
            params.thread.updatedAt
        """,
        "thread/status/changed": "emittedAtMs id method params.status params.threadId",
        "thread/tokenUsage/updated": """
            emittedAtMs id method params.threadId params.tokenUsage.last.cacheWriteInputTokens
            params.tokenUsage.last.cachedInputTokens params.tokenUsage.last.inputTokens
            params.tokenUsage.last.outputTokens params.tokenUsage.last.reasoningOutputTokens
            params.tokenUsage.last.totalTokens params.tokenUsage.modelContextWindow
            params.tokenUsage.total.cacheWriteInputTokens params.tokenUsage.total.cachedInputTokens
            params.tokenUsage.total.inputTokens params.tokenUsage.total.outputTokens
            params.tokenUsage.total.reasoningOutputTokens params.tokenUsage.total.totalTokens
            params.turnId
        """,
        "turn/completed": """
            emittedAtMs id method params.threadId params.turn.completedAt params.turn.durationMs
            params.turn.error.additionalDetails params.turn.error.codexErrorInfo
            params.turn.error.message params.turn.error.misalignment params.turn.id
            params.turn.items params.turn.itemsView params.turn.rootTurnId params.turn.startedAt
            params.turn.status
        """,
        "turn/diff/updated": "emittedAtMs id method params.diff params.threadId params.turnId",
        "turn/plan/updated": """
            emittedAtMs id method params.explanation params.plan[].status params.plan[].step
            params.threadId params.turnId
        """,
        "turn/started": """
            emittedAtMs id method params.threadId params.turn.completedAt params.turn.durationMs
            params.turn.error params.turn.id params.turn.items params.turn.itemsView
            params.turn.rootTurnId params.turn.startedAt params.turn.status
        """,
        "warning": "emittedAtMs id method params.message params.threadId",
    },
    "copilot": {
        "abort": "agentId data.reason ephemeral id parentId timestamp type",
        "assistant.idle": "agentId data.aborted ephemeral id parentId timestamp type",
        "assistant.message": """
            agentId data.apiCallId data.chunkCount data.chunkIndex data.citations
            data.clientRequestId data.content data.encryptedContent data.fusion data.interactionId
            data.messageId data.model data.originatingMessageId data.outputTokens
            data.parentToolCallId data.phase data.providerId data.reasoningBlocks
            data.reasoningOpaque data.reasoningText data.reasoningWireField data.requestId data.rte
            data.serverTools data.serviceRequestId data.toolRequests data.turnId ephemeral id
            parentId timestamp type
        """,
        "assistant.message_delta": """
            agentId data.deltaContent data.messageId data.parentToolCallId ephemeral id parentId
            timestamp type
        """,
        "assistant.reasoning": """
            agentId data.content data.reasoningId data.rte ephemeral id parentId timestamp type
        """,
        "assistant.reasoning_delta": """
            agentId data.deltaContent data.reasoningId ephemeral id parentId timestamp type
        """,
        "assistant.tool_call_delta": """
            agentId data.inputDelta data.toolCallId data.toolName data.toolType ephemeral id
            parentId timestamp type
        """,
        "assistant.turn_retry": """
            agentId data.model data.reason data.turnId ephemeral id parentId timestamp type
        """,
        "assistant.usage": """
            agentId data.acceptedPredictionTokens data.accounting data.aiCreditsStatus
            data.apiCallId data.apiEndpoint data.byokKind data.cacheExpiresAt data.cacheReadTokens
            data.cacheWriteTokens data.contentFilterTriggered data.copilotUsage data.cost
            data.duration data.finishReason data.fusion data.initiator data.inputTokens
            data.interTokenLatencyMs data.interactionType data.isAuto data.isByok
            data.maxOutputTokens data.maxPromptTokens data.model data.modelDisplayName
            data.modelProvider data.outputTokens data.outputTtftMs data.parentToolCallId
            data.provider data.providerCallId data.reasoningEffort data.reasoningSummary
            data.reasoningTokens data.rejectedPredictionTokens data.requestBodyBytes
            data.requestBodyCompressionFallback data.requestBodyCompressionFallbackFrom
            data.requestBodyCompressionRejectedStatus data.requestBodyEncoding
            data.requestBodyWireBytes data.rte data.serviceRequestId data.timeToFirstTokenMs
            data.transport data.websocketFallbackAfterMs data.websocketFallbackCloseCode
            data.websocketFallbackErrorKind data.websocketFallbackReason
            data.websocketFallbackReconnectAttempted data.websocketFallbackStartedThisCall
            data.websocketFallbackStatusCode ephemeral id parentId timestamp type
        """,
        "hook.end": """
            agentId data.error data.hookInvocationId data.hookType data.output data.parentToolCallId
            data.success ephemeral id parentId timestamp type
        """,
        "hook.start": """
            agentId data.hookInvocationId data.hookType data.input data.parentToolCallId ephemeral
            id parentId timestamp type
        """,
        "model.call_failure": """
            agentId data.apiCallId data.apiEndpoint data.badRequestKind data.byokKind
            data.durationMs data.errorCode data.errorMessage data.errorType data.failureKind
            data.fusion data.initiator data.interactionType data.isAuto data.isByok
            data.maxOutputTokens data.maxPromptTokens data.model data.modelProvider
            data.parentToolCallId data.providerCallId data.providerType data.reasoningEffort
            data.requestBodyBytes data.requestBodyCompressionFallback
            data.requestBodyCompressionFallbackFrom data.requestBodyCompressionRejectedStatus
            data.requestBodyEncoding data.requestBodyWireBytes data.requestFingerprint
            data.retryAttempt data.rte data.serviceRequestId data.source data.statusCode
            data.transport data.websocketFallbackAfterMs data.websocketFallbackCloseCode
            data.websocketFallbackErrorKind data.websocketFallbackReason
            data.websocketFallbackReconnectAttempted data.websocketFallbackStartedThisCall
            data.websocketFallbackStatusCode ephemeral id parentId timestamp type
        """,
        "result": """
            exitCode sessionId timestamp type usage.codeChanges usage.premiumRequests
            usage.sessionDurationMs usage.totalApiDurationMs
        """,
        "session.autopilot_stopped": """
            agentId data.reason data.requestId ephemeral id parentId timestamp type
        """,
        "session.compaction_complete": """
            agentId data.behaviorModelId data.checkpointNumber data.checkpointPath
            data.compactionAttemptId data.compactionTokensUsed data.conversationTokens
            data.customInstructions data.error data.failureReason data.initialModel
            data.messagesRemoved data.model data.outcome data.outcomeReason
            data.postCompactionTokens data.preCompactionMessagesLength data.preCompactionTokens
            data.requestId data.responsesReasoning data.serviceRequestId data.statusCode
            data.success data.summaryContent data.switchTargetModel data.systemTokens
            data.targetPromptTokenLimit data.tokenAccountingBasis data.tokenLimit data.tokensRemoved
            data.toolDefinitionsTokens data.trigger ephemeral id parentId timestamp type
        """,
        "session.error": """
            agentId data.eligibleForAutoSwitch data.errorCode data.errorType data.message
            data.originatingMessageId data.providerCallId data.providerErrorParam
            data.providerErrorType data.remediation data.serviceRequestId data.stack data.statusCode
            data.url ephemeral id parentId timestamp type
        """,
        "session.info": """
            agentId data.infoType data.message data.tip data.url ephemeral id parentId timestamp
            type
        """,
        "session.mcp_servers_loaded": "agentId data.servers ephemeral id parentId timestamp type",
        "session.mode_changed": """
            agentId data.newMode data.previousMode ephemeral id parentId timestamp type
        """,
        "session.mode_notice_delivered": """
            agentId data.content data.mode ephemeral id parentId timestamp type
        """,
        "session.model_change": """
            agentId data.autoTier data.autoTierManaged data.cause data.contextTier
            data.contextTierManaged data.newModel data.previousAutoTier data.previousModel
            data.previousProviderId data.previousReasoningEffort data.previousReasoningSummary
            data.previousVerbosity data.providerId data.reasoningEffort data.reasoningEffortManaged
            data.reasoningEffortModel data.reasoningSummary data.source data.verbosity ephemeral id
            parentId timestamp type
        """,
        "session.tools_updated": "agentId data.model ephemeral id parentId timestamp type",
        "session.warning": """
            agentId data.message data.originatingMessageId data.remediation data.url
            data.warningType ephemeral id parentId timestamp type
        """,
        "subagent.completed": """
            agentId data.agentDisplayName data.agentName data.cancelled
            data.configuredModelMatchesActual data.configuredModelPreference data.durationMs
            data.explicitModelMatchesPreference data.explicitModelOverride data.firstDispatchedModel
            data.model data.modelOverrideReason data.modelSelectionSource data.toolCallId
            data.totalTokens data.totalToolCalls ephemeral id parentId timestamp type
        """,
        "subagent.failed": """
            agentId data.agentDisplayName data.agentName data.configuredModelMatchesActual
            data.configuredModelPreference data.durationMs data.error
            data.explicitModelMatchesPreference data.explicitModelOverride data.firstDispatchedModel
            data.model data.modelOverrideReason data.modelSelectionSource data.toolCallId
            data.totalTokens data.totalToolCalls ephemeral id parentId timestamp type
        """,
        "subagent.started": """
            agentId data.agentDescription data.agentDisplayName data.agentName data.agentType
            data.executionMode data.model data.modelSelectionSource data.parentId data.resumable
            data.taskModelSource data.toolCallId data.workflowRunId ephemeral id parentId timestamp
            type
        """,
        "tool.execution_complete": """
            agentId data.error data.fileEdits data.fusion data.interactionId data.isUserRequested
            data.mcpMeta data.model data.parentToolCallId data.result data.rte data.sandboxed
            data.shellExecution data.success data.toolCallId data.toolDescription data.toolTelemetry
            data.toolUsage data.turnId ephemeral id parentId timestamp type
        """,
        "tool.execution_progress": """
            agentId data.progressMessage data.structuredContent data.toolCallId ephemeral id
            parentId timestamp type
        """,
        "tool.execution_start": """
            agentId data.arguments data.displayVerbatim data.fusion data.mcpConfigServerName
            data.mcpConfigSource data.mcpServerName data.mcpToolName data.mcpTransport data.model
            data.parentToolCallId data.rte data.shellToolInfo data.toolCallId data.toolDescription
            data.toolName data.toolTitle data.turnId ephemeral id parentId timestamp type
        """,
        "tool.shell_output": """
            agentId data.fusion data.sequence data.stream data.text data.toolCallId ephemeral id
            parentId timestamp type
        """,
        "user.message": """
            agentId data.agentMode data.attachments data.content data.delivery data.interactionId
            data.isAutopilotContinuation data.messageId data.nativeDocumentPathFallbackPaths
            data.parentAgentTaskId data.responsesReasoning data.source
            data.supportedNativeDocumentMimeTypes data.transformedContent data.turnId ephemeral id
            parentId timestamp type
        """,
    },
    "droid": {
        "completion": """
            durationMs finalText numTurns session_id timestamp type
            usage.cache_creation_input_tokens usage.cache_read_input_tokens usage.factory_credits
            usage.input_tokens usage.output_tokens usage.thinking_tokens usage.ttft_ms
        """,
        "error": "message session_id source timestamp type",
        "message": "id role session_id text timestamp type",
        "reasoning": "id session_id text timestamp type",
        "result": """
            duration_ms is_error num_turns result session_id subtype timestamp type
            usage.cache_creation_input_tokens usage.cache_read_input_tokens usage.factory_credits
            usage.input_tokens usage.output_tokens usage.thinking_tokens usage.ttft_ms
        """,
        "system": "cwd model reasoning_effort session_id subtype timestamp tools type",
        "tool_call": "id messageId parameters session_id timestamp toolId toolName type",
        "tool_result": """
            error.message error.type id isError messageId session_id timestamp toolId type value
        """,
    },
    "gemini": {
        "error": "message severity timestamp type",
        "init": "model session_id timestamp type",
        "message": "content delta role timestamp type",
        "result": """
            error.message error.type stats.cached stats.duration_ms stats.input stats.input_tokens
            stats.models stats.output_tokens stats.tool_calls stats.total_tokens status timestamp
            type
        """,
        "tool_result": "error.message error.type output status timestamp tool_id type",
        "tool_use": "parameters timestamp tool_id tool_name type",
    },
    "goose": {
        "complete": """
            cache_read_input_tokens cache_write_input_tokens cost_usd input_tokens output_tokens
            total_tokens type
        """,
        "error": "error type",
        "message": """
            message.content[]._meta message.content[].data message.content[].id
            message.content[].kind message.content[].message message.content[].msg
            message.content[].notificationType message.content[].signature message.content[].text
            message.content[].thinking message.content[].toolCall.error
            message.content[].toolCall.status message.content[].toolCall.value.arguments
            message.content[].toolCall.value.name message.content[].toolResult.error
            message.content[].toolResult.status message.content[].toolResult.value._meta
            message.content[].toolResult.value.content message.content[].toolResult.value.isError
            message.content[].toolResult.value.resultType
            message.content[].toolResult.value.structuredContent message.content[].type
            message.created message.id message.metadata.agentVisible message.metadata.inference
            message.metadata.outputTokenLimitReached message.metadata.userVisible message.role type
        """,
        "notification": "extension_id log.message progress type",
    },
    "kilo": {
        "error": "error.data error.name sessionID timestamp type",
        "reasoning": """
            part.id part.messageID part.metadata part.sessionID part.text part.time.end
            part.time.start part.type sessionID timestamp type
        """,
        "step_finish": """
            part.cost part.id part.messageID part.metrics part.reason part.sessionID part.snapshot
            part.time.elapsed part.time.end part.time.start part.tokens.cache.read
            part.tokens.cache.write part.tokens.input part.tokens.output part.tokens.reasoning
            part.tokens.total part.type sessionID timestamp type
        """,
        "step_start": """
            part.id part.messageID part.sessionID part.snapshot part.type sessionID timestamp type
        """,
        "text": """
            part.id part.messageID part.metadata part.sessionID part.synthetic part.text
            part.time.end part.time.start part.type sessionID timestamp type
        """,
        "tool_use": """
            part.callID part.id part.messageID part.metadata part.sessionID part.state.attachments
            part.state.error part.state.input part.state.metadata part.state.output
            part.state.status part.state.time.compacted part.state.time.end part.state.time.start
            part.state.title part.tool part.type sessionID timestamp type
        """,
    },
    "kimi": {
        "assistant": """
            content role tool_calls[].function.arguments tool_calls[].function.name tool_calls[].id
            tool_calls[].type
        """,
        "goal": "goalId reason role status tokensUsed turnsUsed type wallClockMs",
        "meta": """
            command content delay_ms error_message error_name failed_attempt max_attempts
            next_attempt role session_id status_code type version
        """,
        "tool": "content role tool_call_id",
    },
    "opencode": {
        "error": "error.data error.name sessionID timestamp type",
        "reasoning": """
            part.id part.messageID part.metadata part.sessionID part.text part.time.end
            part.time.start part.type sessionID timestamp type
        """,
        "step_finish": """
            part.cost part.id part.messageID part.reason part.sessionID part.snapshot
            part.tokens.cache.read part.tokens.cache.write part.tokens.input part.tokens.output
            part.tokens.reasoning part.tokens.total part.type sessionID timestamp type
        """,
        "step_start": """
            part.id part.messageID part.sessionID part.snapshot part.type sessionID timestamp type
        """,
        "text": """
            part.id part.messageID part.metadata part.sessionID part.synthetic part.text
            part.time.end part.time.start part.type sessionID timestamp type
        """,
        "tool_use": """
            part.callID part.id part.messageID part.metadata part.sessionID part.state.attachments
            part.state.error part.state.input part.state.metadata part.state.output
            part.state.status part.state.time.compacted part.state.time.end part.state.time.start
            part.state.title part.tool part.type sessionID timestamp type
        """,
    },
    "qwen": {
        "assistant": """
            message.content[].id message.content[].input message.content[].name
            message.content[].signature message.content[].text message.content[].thinking
            message.content[].type message.id message.model message.role message.stop_reason
            message.type message.usage.cache_read_input_tokens message.usage.input_tokens
            message.usage.output_tokens message.usage.total_tokens parent_tool_use_id session_id
            type uuid
        """,
        "result": """
            duration_api_ms duration_ms error.message is_error num_turns parent_tool_use_id
            permission_denials[].tool_input permission_denials[].tool_name
            permission_denials[].tool_use_id result session_id stats structured_result subtype type
            usage.cache_read_input_tokens usage.input_tokens usage.output_tokens usage.total_tokens
            uuid
        """,
        "stream_event": """
            event.content event.content_block.id event.content_block.input event.content_block.name
            event.content_block.signature event.content_block.text event.content_block.thinking
            event.content_block.type event.delta.partial_json event.delta.text event.delta.thinking
            event.delta.type event.goal_state event.index event.message.content event.message.id
            event.message.model event.message.role event.tool_use_id event.type parent_tool_use_id
            session_id type uuid
        """,
        "system": """
            agents cwd data.attempt data.branch data.delayMs data.description
            data.discardedToolCalls data.error data.fallbackIndex data.fromModel data.maxRetries
            data.message data.notice data.path data.preserveText data.reason data.session_id
            data.slug data.status data.statusCode data.subagent_type data.task_id data.toModel
            data.tool_use_id data.usage.duration_ms data.usage.tool_uses data.usage.total_tokens
            mcp_servers[].name mcp_servers[].status model parent_tool_use_id permission_mode
            qwen_code_version session_id slash_commands subtype tools type uuid
        """,
        "user": """
            message.content[].content message.content[].is_error message.content[].text
            message.content[].tool_use_id message.content[].type message.role parent_tool_use_id
            session_id type uuid
        """,
    },
}
