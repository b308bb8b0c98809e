"""Every field that the checked versions wrote, by message type, to report unknown ones."""

from collections.abc import Mapping

CHECKED_VERSIONS = frozenset({"1.0.128", "2.0.76", "2.1.197", "2.1.325"})
"""The versions of Claude Code of which every field was checked."""

KNOWN_FIELDS: Mapping[str, frozenset[str]] = {
    type: frozenset(fields.split())
    for type, fields in {
        "system/init": """
            additional_directories agents analytics_disabled apiKeySource capabilities
            claude_code_version cwd fast_mode_disabled_reason fast_mode_state mcp_servers
            mcp_servers[].name mcp_servers[].source mcp_servers[].status memory_paths
            messaging_socket_path model original_cwd output_style per_turn_effort_active
            permissionMode plugins plugins[].name plugins[].path plugins[].source
            product_feedback_disabled session_id skills slash_commands subtype
            terminal_slash_commands tools type ultrathink_available ultrathink_typed_raises
            user_message_uuids uuid view_mode
        """,
        "system/api_retry": """
            attempt error error_status max_retries retry_delay_ms session_id subtype type uuid
        """,
        "system/background_tasks_changed": """
            session_id subtype tasks tasks[].description tasks[].run_id tasks[].subagent_type
            tasks[].task_id tasks[].task_type type uuid
        """,
        "system/compact_boundary": """
            compact_metadata compact_metadata.cumulative_dropped_tokens
            compact_metadata.duration_ms compact_metadata.post_tokens
            compact_metadata.pre_tokens compact_metadata.preserved_messages
            compact_metadata.preserved_messages.all_uuids
            compact_metadata.preserved_messages.anchor_uuid
            compact_metadata.preserved_messages.uuids compact_metadata.preserved_segment
            compact_metadata.preserved_segment.anchor_uuid
            compact_metadata.preserved_segment.head_uuid
            compact_metadata.preserved_segment.tail_uuid compact_metadata.trigger
            logical_parent_uuid session_id subtype type uuid
        """,
        "system/hook_progress": """
            hook_event hook_id hook_name output session_id stderr stdout subtype type uuid
        """,
        "system/hook_response": """
            exit_code hook_event hook_id hook_name outcome output session_id stderr stdout
            subtype type uuid
        """,
        "system/hook_started": """
            hook_event hook_id hook_name session_id subtype type uuid
        """,
        "system/informational": """
            content level prevent_continuation prompt_submit_outcome prompt_submit_outcome.kind
            prompt_submit_outcome.prompt_kept prompt_submit_outcome.reason session_id subtype
            type uuid
        """,
        "system/model_fallback": """
            content fallback_model original_model session_id subtype trigger type uuid
        """,
        "system/model_refusal_no_fallback": """
            api_refusal_category api_refusal_explanation content original_model
            refused_user_message_uuid request_id session_id subtype type uuid
        """,
        "system/notification": """
            key priority session_id subtype text type uuid
        """,
        "system/permission_denied": """
            agent_id decision_reason decision_reason_type message session_id subtype tool_name
            tool_use_id type uuid
        """,
        "system/session_state_changed": """
            session_id state subtype type uuid
        """,
        "system/status": """
            compact_error compact_output_chars compact_result permissionMode session_id status
            subtype type uuid
        """,
        "system/task_notification": """
            output_file run_id session_id status subtype summary task_id tool_use_id type usage
            usage.duration_ms usage.tool_uses usage.total_tokens uuid
        """,
        "system/task_progress": """
            description last_tool_name run_id session_id subagent_type subtype task_id
            tool_use_id type usage usage.duration_ms usage.tool_uses usage.total_tokens uuid
        """,
        "system/task_started": """
            description is_backgrounded prompt run_id session_id spawn_depth subagent_type
            subtype task_id task_type tool_use_id type uuid
        """,
        "system/task_updated": """
            patch patch.end_time patch.error patch.status run_id session_id subtype task_id type
            uuid
        """,
        "system/thinking_tokens": """
            estimated_tokens estimated_tokens_delta session_id subtype type uuid
        """,
        "system/ui_invalidate": """
            event session_id subtype type uuid
        """,
        "assistant": """
            aborted agent_id api_error api_error_params api_error_params.cut
            api_error_params.rate_limit_info api_error_params.rate_limit_info.isUsingOverage
            api_error_params.rate_limit_info.overageDisabledReason
            api_error_params.rate_limit_info.overageStatus
            api_error_params.rate_limit_info.rateLimitType
            api_error_params.rate_limit_info.resetsAt api_error_params.rate_limit_info.status
            api_error_status api_error_type context_usage error is_api_error_message
            local_command_outcome local_command_outcome.kind local_command_run
            local_command_run.args local_command_run.command local_command_source message
            message.container message.content message.content[].content
            message.content[].content[].encrypted_content message.content[].content[].page_age
            message.content[].content[].title message.content[].content[].type
            message.content[].content[].url message.content[].data message.content[].id
            message.content[].input message.content[].name message.content[].signature
            message.content[].text message.content[].thinking message.content[].tool_use_id
            message.content[].type message.context_management message.diagnostics message.id
            message.model message.role message.stop_details message.stop_details.category
            message.stop_details.explanation message.stop_details.type message.stop_reason
            message.stop_sequence message.type message.usage message.usage.cache_creation
            message.usage.cache_creation.ephemeral_1h_input_tokens
            message.usage.cache_creation.ephemeral_5m_input_tokens
            message.usage.cache_creation_input_tokens message.usage.cache_read_input_tokens
            message.usage.fallback_credit message.usage.inference_geo message.usage.input_tokens
            message.usage.iterations message.usage.output_tokens
            message.usage.output_tokens_details
            message.usage.output_tokens_details.thinking_tokens message.usage.server_tool_use
            message.usage.server_tool_use.web_fetch_requests
            message.usage.server_tool_use.web_search_requests message.usage.service_tier
            message.usage.speed parent_tool_use_id refused_message_id request_id session_id
            subagent_type task_description thinking_display thinking_duration_ms timestamp
            tool_use_meta tool_use_meta[].display_name tool_use_meta[].id
            tool_use_meta[].server_display_name tool_use_meta[].tool_name type user_message_uuid
            user_message_uuids uuid
        """,
        "user": """
            agent_id isReplay isSynthetic message message.content message.content[].content
            message.content[].content[].source message.content[].content[].text
            message.content[].content[].tool_name message.content[].content[].type
            message.content[].error message.content[].is_error message.content[].source
            message.content[].source.data message.content[].source.media_type
            message.content[].source.type message.content[].text message.content[].tool_use_id
            message.content[].type message.role parent_tool_use_id refused_message_id session_id
            subagent_type task_description timestamp tool_result_meta tool_result_meta[].id
            tool_result_meta[].non_execution_kind tool_result_meta[].permission_decision
            tool_result_meta[].permission_decision.decision
            tool_result_meta[].permission_decision.reason_type
            tool_result_meta[].permission_decision.source tool_use_result type uuid
        """,
        "stream_event": """
            abandoned_blocks abandoned_blocks.api_message_id abandoned_blocks.from_block_index
            api_message_id event event.content_block event.content_block.content
            event.content_block.id event.content_block.input event.content_block.name
            event.content_block.signature event.content_block.text event.content_block.thinking
            event.content_block.tool_use_id event.content_block.type event.context_management
            event.delta event.delta.container event.delta.partial_json event.delta.signature
            event.delta.stop_details event.delta.stop_details.category
            event.delta.stop_details.explanation event.delta.stop_details.type
            event.delta.stop_reason event.delta.stop_sequence event.delta.text
            event.delta.thinking event.delta.type event.index event.message
            event.message.content event.message.content[].id event.message.content[].input
            event.message.content[].name event.message.content[].signature
            event.message.content[].text event.message.content[].thinking
            event.message.content[].type event.message.id event.message.model event.message.role
            event.message.stop_reason event.message.stop_sequence event.message.type
            event.message.usage event.message.usage.cache_creation
            event.message.usage.cache_creation.ephemeral_1h_input_tokens
            event.message.usage.cache_creation.ephemeral_5m_input_tokens
            event.message.usage.cache_creation_input_tokens
            event.message.usage.cache_read_input_tokens event.message.usage.input_tokens
            event.message.usage.output_tokens event.message.usage.server_tool_use
            event.message.usage.server_tool_use.web_search_requests
            event.message.usage.service_tier event.type event.usage
            event.usage.cache_creation_input_tokens event.usage.cache_read_input_tokens
            event.usage.fallback_credit event.usage.input_tokens event.usage.iterations
            event.usage.output_tokens event.usage.output_tokens_details
            event.usage.output_tokens_details.thinking_tokens event.usage.server_tool_use
            event.usage.server_tool_use.web_fetch_requests
            event.usage.server_tool_use.web_search_requests parent_tool_use_id session_id
            thinking_display ttft_ms type uuid
        """,
        "result": """
            api_error api_error_status api_error_type cost_usd duration_api_ms duration_ms
            errors fast_mode_disabled_reason fast_mode_state first_content_frame_ms
            first_request_cache_read_input_tokens first_request_input_tokens is_error
            local_command modelUsage model_usage_since_last_result num_turns origin origin.kind
            origin.producer origin.runId permission_denials permission_denials[].tool_input
            permission_denials[].tool_name permission_denials[].tool_use_id queued_turn_count
            request_sent_wall_ms result result_index safety_stops session_id stop_reason
            structured_output subagent_stats subtype terminal_reason time_to_request_ms
            total_cost_usd ttft_ms ttft_stream_ms type usage usage.cache_creation
            usage.cache_creation.ephemeral_1h_input_tokens
            usage.cache_creation.ephemeral_5m_input_tokens usage.cache_creation_input_tokens
            usage.cache_read_input_tokens usage.fallback_credit usage.inference_geo
            usage.input_tokens usage.iterations usage.output_tokens usage.output_tokens_details
            usage.output_tokens_details.thinking_tokens usage.server_tool_use
            usage.server_tool_use.web_fetch_requests usage.server_tool_use.web_search_requests
            usage.service_tier usage.speed user_message_uuid user_message_uuids uuid
        """,
        "command_lifecycle": """
            command_uuid session_id state type uuid
        """,
        "control_request": """
            request request.blocked_path request.decision_reason request.decision_reason_type
            request.description request.display_name request.input
            request.permission_suggestions request.permission_suggestions[].behavior
            request.permission_suggestions[].destination
            request.permission_suggestions[].directories request.permission_suggestions[].mode
            request.permission_suggestions[].rules
            request.permission_suggestions[].rules[].ruleContent
            request.permission_suggestions[].rules[].toolName
            request.permission_suggestions[].type request.requires_user_interaction
            request.subtype request.tool_name request.tool_use_id request_id type
        """,
        "control_response": """
            response response.pending_permission_requests response.pending_user_dialog_requests
            response.request_id response.response response.subtype type
        """,
        "conversation_reset": """
            new_conversation_id session_id timestamp trigger type user_message_uuid uuid
        """,
        "rate_limit_event": """
            rate_limit_info rate_limit_info.isUsingOverage rate_limit_info.overageDisabledReason
            rate_limit_info.overageStatus rate_limit_info.rateLimitType rate_limit_info.resetsAt
            rate_limit_info.status rate_limit_info.surpassedThreshold
            rate_limit_info.unifiedWindows rate_limit_info.unifiedWindows.five_hour
            rate_limit_info.unifiedWindows.five_hour.resetsAt
            rate_limit_info.unifiedWindows.five_hour.status
            rate_limit_info.unifiedWindows.five_hour.surpassedThreshold
            rate_limit_info.unifiedWindows.five_hour.utilization
            rate_limit_info.unifiedWindows.seven_day
            rate_limit_info.unifiedWindows.seven_day.resetsAt
            rate_limit_info.unifiedWindows.seven_day.status
            rate_limit_info.unifiedWindows.seven_day.utilization rate_limit_info.utilization
            session_id type uuid
        """,
        "tool_progress": """
            elapsed_time_seconds heartbeat parent_tool_use_id session_id tool_name tool_use_id
            type uuid
        """,
        "tool_use_summary": """
            preceding_tool_use_ids session_id summary type uuid
        """,
    }.items()
}
"""Dotted paths of the fields of each type, `[]` for the items of a list."""
