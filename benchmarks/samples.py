"""What Claude Code 2.1.325 writes with every field: the messages that hardly change in a run."""

# ruff: noqa: SIM905 - a long list of words is easier to read as words

from typing import Any

Json = dict[str, Any]

SESSION = "6f7c2f0e-5f0b-4a53-9d0e-0d6c2a1b7e55"
MODEL = "claude-sonnet-4-5-20250929"

SKILLS = """
deep-research dataviz update-config verify debug code-review simplify batch
fewer-permission-prompts doctor loop claude-api workflow-authoring run run-skill-generator
plugin-authoring
""".split()
INIT: Json = {
    "type": "system",
    "subtype": "init",
    "cwd": "/home/dev/project",
    "session_id": SESSION,
    "tools": """
        Task Bash CronCreate CronDelete CronList Edit EnterWorktree ExitWorktree ListAgents Monitor
        NotebookEdit Read ReportFindings ScheduleWakeup SendMessage Skill TaskCreate TaskGet
        TaskList TaskStop TaskUpdate ToolSearch WebFetch WebSearch Workflow Write
        """.split(),
    "mcp_servers": [],
    "model": MODEL,
    "permissionMode": "bypassPermissions",
    "slash_commands": SKILLS
    + """
        agents auto-mode-setup autocompact clear color compact config output-style context effort
        fast focus heapdump init mcp model __remote-workflow workflow-launch-exec reload-plugins
        reload-skills rename security-review usage insights recap goal list-agents team-onboarding
        """.split(),
    "terminal_slash_commands": ["doctor", "color", "focus", "reload-plugins"],
    "apiKeySource": "ANTHROPIC_API_KEY",
    "claude_code_version": "2.1.325",
    "output_style": "default",
    "agents": ["claude", "Explore", "general-purpose", "Plan", "statusline-setup"],
    "skills": SKILLS,
    "plugins": [
        {"name": name, "path": "builtin", "source": f"{name}@builtin"}
        for name in ("cc-plugin-agents-md", "cc-plugin-privacy", "cc-plugin-plugin-authoring")
    ],
    "capabilities": """
        interrupt_receipt_v1 interrupt_cancel_queued_v1 interrupt_send_now_v1
        interrupt_requeue_taken_v1 msg_lifecycle_v1 request_marker_lists_v1
        ask_user_question_unanswered_v1 lifecycle_wakeup_source_v1 sdk_mcp_tools_list_changed
        sdk_mcp_manifests mcp_read_resource_v1 mcp_tool_ui_meta_v1 ui_surface_v1
        mcp_call_result_not_for_model_v1 mcp_call_check_permissions_v1 voice_call_talk_line_v1
        withdrawn_files_note_v2 ui_pane_widget_v1 reload_plugins_refuse_if_busy_v1
        """.split(),
    "analytics_disabled": True,
    "product_feedback_disabled": True,
    "memory_paths": {"auto": "/home/dev/.claude/projects/-home-dev-project/memory/"},
    "original_cwd": "/home/dev/project",
    "additional_directories": [],
    "messaging_socket_path": "/tmp/cc-socks/4205.sock",
    "fast_mode_state": "off",
    "fast_mode_disabled_reason": "sdk_opt_in_required",
    "per_turn_effort_active": False,
    "ultrathink_available": False,
    "ultrathink_typed_raises": False,
    "view_mode": "default",
}
USAGE: Json = {
    "input_tokens": 11,
    "cache_creation_input_tokens": 200,
    "cache_read_input_tokens": 2719,
    "cache_creation": {"ephemeral_5m_input_tokens": 200, "ephemeral_1h_input_tokens": 0},
    "output_tokens": 1,
    "service_tier": "standard",
}
MODEL_USAGE: Json = {
    "inputTokens": 66,
    "outputTokens": 228,
    "cacheReadInputTokens": 18324,
    "cacheCreationInputTokens": 1200,
    "webSearchRequests": 0,
    "costUSD": 0.0136152,
    "contextWindow": 200000,
    "maxOutputTokens": 32000,
    "thinkingTokens": 0,
    "cacheCreationEphemeral5mInputTokens": 1200,
    "cacheCreationEphemeral1hInputTokens": 0,
    "canonicalModel": "claude-sonnet-4-5",
    "provider": "firstParty",
    "costBasis": "list",
}
RESULT: Json = {
    "duration_api_ms": 1443,
    "stop_reason": "end_turn",
    "session_id": SESSION,
    "total_cost_usd": 0.0136152,
    "usage": {
        "input_tokens": 66,
        "cache_creation_input_tokens": 1200,
        "cache_read_input_tokens": 18324,
        "output_tokens": 228,
        "output_tokens_details": {"thinking_tokens": 0},
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        "service_tier": "standard",
        "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 1200},
        "inference_geo": "",
        "iterations": [],
        "speed": "standard",
        "fallback_credit": None,
    },
    "modelUsage": {MODEL: MODEL_USAGE},
    "permission_denials": [],
    "terminal_reason": "completed",
    "fast_mode_state": "off",
    "fast_mode_disabled_reason": "sdk_opt_in_required",
    "subagent_stats": {
        "spawned": 0,
        "requested": {"background": 0, "foreground": 0, "unset": 0},
        "started_in_background": 0,
        "max_depth": 0,
        "spawned_by_subagents": 0,
        "completed": 0,
        "failed": 0,
        "killed": {"parent": 0, "user": 0, "system": 0},
        "refused": {"depth_limit": 0, "concurrency_limit": 0, "budget": 0},
        "by_type": {},
    },
    "safety_stops": 0,
    "is_error": False,
    "num_turns": 6,
    "subtype": "success",
    "api_error_status": None,
    "result": "",
    "ttft_ms": 894,
    "type": "result",
    "duration_ms": 3464,
    "uuid": "",
    "ttft_stream_ms": 893,
    "time_to_request_ms": 881,
    "first_content_frame_ms": 893,
    "queued_turn_count": 0,
    "result_index": 0,
    "model_usage_since_last_result": {MODEL: MODEL_USAGE},
}
