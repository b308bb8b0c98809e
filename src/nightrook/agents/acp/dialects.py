"""The known agents that speak the protocol: how each starts, and how its messages differ.

An agent without an entry can be run too. Then its tokens and its cost are not reported, because
what the figures of the protocol count differs between agents.
"""

import re
from collections.abc import Mapping
from typing import Literal

import msgspec

from nightrook.model.events import Level
from nightrook.model.permissions import Permission

UsageOf = Literal["request", "last_request", "turn", "process", "session"]
"""The scope of the tokens in a result; `request` are those of chunks, one for each request."""

CostOf = Literal["process", "session"]
"""The scope of the cumulative cost; that of a session continues when it is resumed."""


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """One agent's variant of the protocol; the defaults are safe for any agent."""

    name: str
    """Our name of the agent."""

    title: str
    """Its own name, for people."""

    command: tuple[str, ...]
    """The command line that makes it speak the protocol."""

    install: str
    """The command that installs it."""

    info: str | None = None
    """Its name in its first message, if that is known."""

    evidence: Literal["recordings", "documentation"] = "documentation"
    checked: tuple[str, ...] = ()
    """The versions that were checked."""

    login: str | None = None
    """The command that logs in."""

    modes: Mapping[Permission, str] = {}
    """The mode for each permission, or `option=value` for one that is a setting."""

    tool_name: tuple[str, ...] = ()
    """The path to a tool's name in a call; `title` is the title of its first message."""

    input_in_content: bool = False
    """True if the input of a call comes as its content before the call runs."""

    parent: tuple[str, ...] = ()
    """The path to the call in which a subagent made this one."""

    usage: UsageOf | None = None
    cost: CostOf | None = None
    failure: str | None = None
    """The beginning of the last text of a turn that failed although it ended normally."""

    asides: Mapping[str, Level] = {}
    """The beginnings of texts that are notices of the agent's program, with their levels."""

    hides_subagents: bool = False
    """True if the tokens and the cost leave out those of subagents."""

    replays_late: bool = False
    """True if it may repeat a session after it has answered that the session is loaded."""

    refuses_silently: bool = False
    """True if a refused call fails without a reason, and the turn ends as cancelled."""

    leaves_calls_open: bool = False
    """True if calls that were allowed may never be reported as ended."""

    notes: tuple[str, ...] = ()
    """Notes for the user, one sentence each."""


_META = "_meta"
_COPILOT_MODE = "https://agentclientprotocol.com/protocol/session-modes#"
_LAST = "Of a turn with several requests, only the tokens of the last one are reported."
_HIDDEN = "What its subagents do and use is not reported."

# In its own mode, a model reviews what would be asked, and no person is.
_CODEX_MODES: Mapping[Permission, str] = {
    "ask": "read-only",
    "edit": "workspace-write",
    "plan": "read-only",
    "all": "agent-full-access",
}

_ALL = (
    Dialect(
        name="claude",
        title="Claude Code",
        command=("claude-agent-acp",),
        install="npm install -g @agentclientprotocol/claude-agent-acp",
        info="@agentclientprotocol/claude-agent-acp",
        evidence="recordings",
        checked=("0.99.1",),
        modes={"ask": "default", "edit": "acceptEdits", "plan": "plan"},
        tool_name=(_META, "claudeCode", "toolName"),
        parent=(_META, "claudeCode", "parentToolUseId"),
        usage="turn",
        cost="process",
    ),
    Dialect(
        name="codex",
        title="Codex CLI",
        command=("codex-acp",),
        install="npm install -g @agentclientprotocol/codex-acp",
        info="@agentclientprotocol/codex-acp",
        evidence="recordings",
        checked=("2.6.0",),
        modes=_CODEX_MODES,
        usage="turn",
        asides={"Warning: ": "warning"},
        refuses_silently=True,  # guards: silent-refusal
    ),
    Dialect(
        name="opencode",
        title="OpenCode",
        command=("opencode", "acp"),
        install="npm install -g opencode-ai",
        info="OpenCode",
        evidence="recordings",
        checked=("1.18.33",),
        modes={"plan": "plan"},
        tool_name=("title",),
        usage="last_request",
        cost="session",
        hides_subagents=True,
        notes=(_LAST, _HIDDEN),
    ),
    Dialect(
        name="gemini",
        title="Gemini CLI",
        command=("gemini", "--acp"),
        install="npm install -g @google/gemini-cli",
        info="gemini-cli",
        evidence="recordings",
        checked=("0.61.0",),
        modes={"ask": "default", "edit": "autoEdit", "plan": "plan", "all": "yolo"},
        replays_late=True,
        tool_name=("toolCallId",),
        usage="turn",
        asides={"[MODE_UPDATE] ": "info"},
        notes=("Its input tokens include the cached ones.",),
    ),
    Dialect(
        name="qwen",
        title="Qwen Code",
        command=("qwen", "--acp"),
        install="npm install -g @qwen-code/qwen-code",
        info="qwen-code",
        evidence="recordings",
        checked=("0.24.4",),
        modes={"ask": "default", "edit": "auto-edit", "plan": "plan", "all": "yolo"},
        tool_name=(_META, "toolName"),
        usage="request",
        hides_subagents=True,
        notes=(_HIDDEN,),
    ),
    Dialect(
        name="copilot",
        title="GitHub Copilot CLI",
        command=("copilot", "--acp"),
        install="npm install -g @github/copilot",
        info="Copilot",
        evidence="recordings",
        checked=("1.0.102",),
        login="copilot login",
        modes={"plan": f"{_COPILOT_MODE}plan", "all": "allow_all=on"},
        usage="process",
        failure="Error: ",
        asides={"Info: ": "info"},
    ),
    Dialect(
        name="goose",
        title="Goose",
        command=("goose", "acp"),
        install="npm install -g @aaif/goose",
        info="goose",
        evidence="recordings",
        checked=("1.52.0",),
        login="goose configure",
        modes={"ask": "approve", "all": "auto"},
        tool_name=(_META, "goose", "toolCall", "toolName"),
        usage="last_request",
        notes=(_LAST, "Its input tokens include the cached ones."),
    ),
    Dialect(
        name="kimi",
        title="Kimi Code CLI",
        command=("kimi", "acp"),
        install="npm install -g @moonshot-ai/kimi-code",
        info="Kimi Code CLI",
        evidence="recordings",
        checked=("2.1.0",),
        login="kimi login",
        modes={"ask": "default", "plan": "plan", "all": "yolo"},
        tool_name=("title",),
        input_in_content=True,
        notes=("Over ACP it reports neither tokens nor cost.", _HIDDEN),
    ),
    Dialect(
        name="kilo",
        title="Kilo Code CLI",
        command=("kilo", "acp"),
        install="npm install -g @kilocode/cli",
        info="Kilo",
        evidence="recordings",
        checked=("7.7.9",),
        login="kilo auth login",
        modes={"plan": "plan"},
        tool_name=("title",),
        usage="last_request",
        cost="session",
        hides_subagents=True,
        notes=(_LAST, _HIDDEN),
    ),
    Dialect(
        name="droid",
        title="Factory Droid",
        command=("droid", "exec", "--output-format", "acp"),
        install="npm install -g droid",
        info="@factory/cli",
        evidence="recordings",
        checked=("0.215.0",),
        modes={"ask": "normal", "edit": "auto-low", "plan": "spec", "all": "auto-high"},
        notes=("Over ACP it reports neither tokens nor cost.",),
    ),
    Dialect(
        name="vibe",
        title="Mistral Vibe",
        command=("vibe-acp",),
        install="uv tool install mistral-vibe",
        info="@mistralai/mistral-vibe",
        evidence="recordings",
        checked=("3.0.2",),
        login="vibe --setup",
        modes={"ask": "ask", "edit": "accept-edits", "all": "auto-approve"},
        tool_name=(_META, "tool_name"),
        usage="session",
        cost="session",
    ),
    Dialect(
        name="hermes",
        title="Hermes Agent",
        command=("hermes", "acp"),
        install="uv tool install 'hermes-agent[acp]'",
        login="hermes acp --setup",
        usage="process",
        leaves_calls_open=True,
        notes=("It asks only for permission to edit files.",),
    ),
    Dialect(
        name="openhands",
        title="OpenHands CLI",
        command=("openhands", "acp"),
        install="uv tool install openhands --python 3.12",
        login="openhands login",
    ),
    Dialect(
        name="auggie",
        title="Auggie CLI",
        command=("auggie", "--acp"),
        install="npm install -g @augmentcode/auggie",
        login="auggie login",
    ),
    Dialect(
        name="cline",
        title="Cline",
        command=("cline", "--acp"),
        install="npm install -g cline",
        login="cline auth",
    ),
    Dialect(
        name="cursor",
        title="Cursor CLI",
        command=("cursor-agent", "acp"),
        install="curl https://cursor.com/install -fsS | bash",
        login="cursor-agent login",
    ),
    Dialect(
        name="grok",
        title="Grok Build",
        command=("grok", "agent", "stdio"),
        install="curl -fsSL https://x.ai/cli/install.sh | bash",
        login="grok login",
    ),
    Dialect(
        name="junie",
        title="Junie",
        command=("junie", "--acp=true"),
        install="npm install -g @jetbrains/junie",
    ),
    Dialect(
        name="kiro",
        title="Kiro CLI",
        command=("kiro-cli", "acp"),
        install="curl -fsSL https://cli.kiro.dev/install | bash",
        login="kiro-cli login",
    ),
    Dialect(
        name="pi",
        title="Pi",
        command=("pi-acp",),
        install="npm install -g pi-acp",
    ),
    Dialect(
        name="qoder",
        title="Qoder CLI",
        command=("qodercli", "--acp"),
        install="npm install -g @qoder-ai/qodercli",
        login="qodercli /login",
    ),
)

DIALECTS: Mapping[str, Dialect] = {dialect.name: dialect for dialect in _ALL}
"""The known agents by our names."""

_BY_INFO = {dialect.info: dialect for dialect in _ALL if dialect.info is not None}

REFUSED = re.compile(
    r"refused|rejected|declined|denied|cancell?ed by|not (?:allowed|permitted|approved)", re.I
)
"""A pattern for the output of a call for which the agent asked, and which was refused."""

FORBIDDEN = re.compile(r"denied by policy|permission (?:was )?denied by", re.I)
"""A pattern for the output of a call that the agent refused itself without asking."""


def dialect_of(info: str | None) -> Dialect | None:
    """The agent that introduces itself with this name; None if it is not known."""
    return _BY_INFO.get(info) if info is not None else None
