"""Nothing that `rook` prints has a secret in it, and nothing of an agent is run by a CI service."""

import io
import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.cli.desk import Desk
from tests.model.redaction.test_redactor import KEY, TOKENS, VALUE, secret_of
from tests.terminals import Terminal
from tests.warm import ROOK

from nightrook.cli.terminal.output import SafeOutput

ANTHROPIC, GITHUB, JWT = (
    TOKENS[name] for name in ("Anthropic key", "GitHub token", "JSON web token")
)
SECRETS = (ANTHROPIC, GITHUB, JWT, VALUE, TOKENS["GitLab token"], KEY)
ENVIRON = {"SERVICE_TOKEN": VALUE}
COMMANDS = (
    "::error file=a.py::owned",
    "::add-mask::x",
    "::stop-commands::pause",
    "##vso[task.setvariable variable=PATH]/evil",
    "##[error]owned",
    "##teamcity[buildStatus text='owned']",
    "section_start:1560896352:name",
)
DEFUSED = (
    ": :error file=a.py::owned",
    ": :add-mask::x",
    ": :stop-commands::pause",
    "# #vso[task.setvariable variable=PATH]/evil",
    "# #[error]owned",
    "# #teamcity[buildStatus text='owned']",
    "section_start :1560896352:name",
)


RUN_BY_CI = ("::error", "::add-mask", "::stop", "##vso[", "##[", "##teamcity[", "section_start:")
OWN_SECTION = r"(?m)^\x1b\[0Ksection_(start|end):[0-9]+:rook_.*$"


def session(*texts: str, deltas: bool = True) -> str:
    """What an agent writes whose texts, titles, errors, outputs and deltas have these texts."""
    lines: list[dict[str, Any]] = [
        {
            "type": "system",
            "subtype": "init",
            "session_id": "s",
            "cwd": "/p",
            "tools": [],
            "model": "m",
        }
    ]
    for n, text in enumerate(texts):
        pieces = [{"type": "text_delta", "text": piece} for piece in (text[:10], text[10:], " ok")]
        block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text"}}
        parts = [{"type": "content_block_delta", "index": 0, "delta": piece} for piece in pieces]
        start = {"type": "message_start", "message": {"id": f"m{n}", "role": "assistant"}}
        lines += [
            {"type": "stream_event", "session_id": "s", "event": event}
            for event in (start, block, *parts)
            if deltas
        ]
        call = {"type": "tool_use", "id": f"t{n}", "name": "Bash", "input": {"command": text}}
        told = {"type": "text", "text": f"{text} ok"}
        for number, content in enumerate((told, call)):
            message = {"id": f"m{n}", "role": "assistant", "content": [content]}
            lines.append(
                {"type": "assistant", "session_id": "s", "uuid": f"{n}{number}", "message": message}
            )
        for error in (False, True):
            result = {
                "type": "tool_result",
                "tool_use_id": f"t{n}",
                "content": text,
                "is_error": error,
            }
            lines.append(
                {
                    "type": "user",
                    "session_id": "s",
                    "message": {"role": "user", "content": [result]},
                }
            )
    answer = "\n".join(texts)
    lines.append(
        {
            "type": "result",
            "subtype": "success",
            "is_error": False,
            "result": answer,
            "session_id": "s",
            "total_cost_usd": 0.1,
            "num_turns": 1,
        }
    )
    return "".join(json.dumps(line) + "\n" for line in lines)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def install(desk: Desk, wire: str, stderr: str = "") -> None:
    """Put an agent on PATH that writes this to stdout, and this to stderr."""
    (desk.home / "wire").write_text(wire)
    (desk.home / "stderr").write_text(stderr)
    desk.program("claude", f"cat {desk.home}/stderr >&2; cat {desk.home}/wire")


def assert_clean(text: str) -> None:
    plain = text.replace("\n", "").replace("\\n", "")
    for secret in SECRETS:
        flat = secret.replace("\n", "")
        assert secret_of(flat) not in plain
        assert flat[12:40] not in plain


SHOWN = (
    ("run", f"Use {GITHUB} and {VALUE}"),
    ("run", "-v", "x"),
    ("run", "-q", "x"),
    ("run", "--json", "x"),
    ("run", "--format", "jsonl", "x"),
    ("show",),
    ("show", "-v"),
    ("show", "--full"),
    ("replay", "--instant"),
    ("replay", "--instant", "--format", "jsonl"),
    ("attach",),
    ("attach", "--format", "jsonl"),
    ("attach", "--json"),
    ("runs",),
    ("runs", "--json"),
)


def test_nothing_shown_has_a_secret(desk: Desk) -> None:
    install(desk, session(*SECRETS), "\n".join(SECRETS) + "\n")
    for words in SHOWN:
        done = desk.rook(*words, **ENVIRON)
        assert_clean(done.stdout)
        assert_clean(done.stderr)
        assert "Traceback" not in done.stderr
    wire = str(desk.home / "wire")
    for form in (("--format", "text", "-v"), ("--format", "jsonl"), ("--summary",)):
        done = desk.rook("decode", *form, wire, **ENVIRON)
        assert_clean(done.stdout)
        assert "[redacted: " in done.stdout


def test_the_log_and_raw_output_are_exact(desk: Desk) -> None:
    wire = session(*SECRETS)
    install(desk, wire)
    assert desk.rook("run", "--format", "raw", "x", **ENVIRON).stdout == wire
    assert desk.rook("replay", "--instant", "--format", "raw", **ENVIRON).stdout == wire
    (log,) = (desk.home / "runs-home").glob("**/stdout.raw")
    assert log.read_text() == wire


def test_the_command_is_shown_as_one_would_type_it_without_secrets(desk: Desk) -> None:
    done = desk.rook("run", f"Use {ANTHROPIC} now", **ENVIRON)
    assert done.stdout.split("\n")[0] == (
        "[rook] Agent command: claude -p --output-format stream-json --verbose "
        "'Use [redacted: Anthropic key] now'"
    )


def test_nothing_on_a_terminal_has_a_secret(desk: Desk) -> None:
    install(desk, session(*SECRETS, deltas=False), "\n".join(SECRETS) + "\n")
    shown = {}
    desk.program("pager", "exec cat")
    for words in (("run", "x"), ("run", "--format", "raw", "x"), ("show", "--no-pager"), ("show",)):
        _, shown[words] = desk.on_terminal(*words, TERM="xterm", PAGER="pager", **ENVIRON)
        assert_clean(shown[words])
        assert "[redacted: " in shown[words]


def test_completions_have_no_secrets(desk: Desk) -> None:
    desk.rook("run", f"Use {GITHUB}")
    words = {"_ROOK_COMPLETE": "zsh_complete", "COMP_WORDS": "rook show ", "COMP_CWORD": "2"}
    shown = desk.rook(**words).stdout
    assert shown.endswith("\nUse [redacted: GitHub token]\n")


def test_an_output_for_ascii_alone_is_safe(desk: Desk) -> None:
    install(desk, session(*SECRETS))
    desk.rook("run", "x")
    for words in (("show", "--full"), ("runs",), ("show", GITHUB)):
        done = desk.shell(f"rook {shlex.join(words)}", PYTHONIOENCODING="ascii", **ENVIRON)
        assert_clean(done.stdout + done.stderr)
        assert "[redacted: " in done.stdout + done.stderr or words == ("runs",)


def test_the_values_are_those_of_the_environment_at_the_time(desk: Desk) -> None:
    install(desk, session(VALUE))
    assert VALUE in desk.rook("run", "x").stdout
    assert VALUE not in desk.rook("show", **ENVIRON).stdout


def test_errors_have_no_secrets(desk: Desk) -> None:
    for words in (("show", GITHUB), ("run", "--agent", GITHUB, "x"), ("decode", GITHUB), (GITHUB,)):
        done = desk.rook(*words)
        assert done.returncode == 2
        assert_clean(done.stderr)


def test_checks_and_reports_of_a_loop_have_no_secrets(desk: Desk) -> None:
    install(desk, session(*SECRETS))
    (desk.home / "secrets").write_text("\n".join(SECRETS))
    check = f"cat {desk.home}/secrets; exit 1"
    words = ("loop", f"Use {GITHUB}", "--until", "DONE", "--check", check, "--max-iterations", "2")
    for form in ((), ("-v",), ("--format", "jsonl")):
        done = desk.rook(*words, *form, **ENVIRON)
        assert done.returncode != 2
        assert_clean(done.stdout + done.stderr)
        assert "[redacted: " in done.stdout
    for form in (("loops",), ("loops", "--json")):
        assert_clean(desk.rook(*form, **ENVIRON).stdout)
    name = json.loads(desk.rook("loops", "--json").stdout.split("\n")[0])["loop"]
    assert_clean(desk.rook("show", name, "--full", **ENVIRON).stdout)


def test_the_last_lines_that_are_shown_do_not_start_inside_of_a_secret(desk: Desk) -> None:
    (desk.home / "log").write_text(f"{KEY}\n" + "".join(f"line {n}\n" for n in range(17)))
    desk.rook("exec", "--", "sh", "-c", f"cat {desk.home}/log >&2; exit 1")
    shown = desk.rook("show").stdout
    assert_clean(shown)
    assert "line 16\n" in shown


def test_a_batch_has_no_secrets(desk: Desk) -> None:
    install(desk, session(*SECRETS))
    (desk.home / "tasks").write_text(json.dumps({"id": GITHUB, "prompt": ANTHROPIC}) + "\n")
    for form in ((), ("--json",)):
        done = desk.rook("batch", str(desk.home / "tasks"), *form, **ENVIRON)
        assert_clean(done.stdout + done.stderr)


@pytest.mark.parametrize(
    "variable",
    ["CI", "GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION", "GITLAB_CI", "BUILDKITE", "TRAVIS"],
)
def test_commands_for_ci_are_broken_wherever_they_are(desk: Desk, variable: str) -> None:
    install(desk, session(*COMMANDS), "\n".join(COMMANDS) + "\n")
    environ = {variable: "true"}
    for words in (("run", "x"), ("run", "-q", "x"), ("run", "--json", "x"), ("show", "--full")):
        done = desk.rook(*words, **environ)
        shown = re.sub(
            "(?m)^\\x1b\\[0Ksection_(start|end):[0-9]+:rook_.*$", "", done.stdout
        )  # its own
        for sign in RUN_BY_CI:
            assert sign not in shown + done.stderr, words
    assert "\n".join(DEFUSED) in desk.rook("run", "-q", "x", **environ).stdout


def test_commands_for_ci_in_raw_text_and_checks_are_broken(desk: Desk) -> None:
    text = shlex.quote("\n".join(f"{lead}{one}" for one in COMMANDS for lead in ("", "  ", "x ")))
    print_all = f"printf '%s\\n' {text}"
    done = desk.rook("exec", "--", "sh", "-c", f"{print_all}; {print_all} >&2; exit 1", CI="1")
    for sign in RUN_BY_CI:
        assert sign not in done.stdout + done.stderr
    loop = ("loop", "x", "--check", f"{print_all}; exit 1", "--max-iterations", "1", "-v")
    done = desk.rook(*loop, CI="1")
    assert "section_start :1560896352" in done.stdout
    for sign in RUN_BY_CI:
        assert sign not in done.stdout + done.stderr


def test_headings_of_buildkite_are_broken(desk: Desk) -> None:
    install(desk, session("--- a\n+++ b\n~~~ c\n^^^ +++\n----- d"))
    shown = desk.rook("run", "-q", "x", BUILDKITE="true").stdout
    assert shown == " --- a\n +++ b\n ~~~ c\n ^^^ +++\n----- d\n"


def test_json_in_ci_keeps_its_values(desk: Desk) -> None:
    install(desk, session(*COMMANDS))
    usual = desk.rook("run", "--json", "x").stdout
    done = desk.rook("run", "--json", "x", CI="true").stdout
    assert json.loads(done)["text"] == json.loads(usual)["text"] == "\n".join(COMMANDS)
    assert "##vso[" not in done


def test_outside_of_ci_and_in_a_file_text_is_exact(desk: Desk) -> None:
    install(desk, session(*COMMANDS))
    assert desk.rook("run", "-q", "x", CI="false").stdout == "\n".join(COMMANDS) + "\n"
    with (desk.home / "answer").open("w") as file:
        subprocess.run(
            [ROOK, "run", "-q", "x"],
            cwd=desk.project,
            env=desk.environment(CI="true"),
            stdout=file,
            check=True,
        )
    assert (desk.home / "answer").read_text() == "\n".join(COMMANDS) + "\n"


HOSTILE = "x\x9b31m\u202ey\x7f\U000e0041"


def test_json_on_a_terminal_is_escaped_and_keeps_its_values(desk: Desk) -> None:
    install(desk, session(HOSTILE))
    wire = str(desk.home / "wire")
    desk.rook("run", "x")
    for words in (
        ("decode", wire),
        ("decode", "--summary", wire),
        ("run", "--json", "x"),
        ("run", "--format", "jsonl", "x"),
        ("replay", "--instant", "--format", "jsonl"),
        ("runs", "--json"),
    ):
        _, shown = desk.on_terminal(*words, TERM="xterm")
        assert not set(HOSTILE[1:]) - set("31my") & set(shown), words
        piped = desk.rook(*words).stdout
        if words[0] == "decode":
            lines = [json.loads(line) for line in shown.split("\n") if line.startswith("{")]
            assert lines == [json.loads(line) for line in piped.split("\n") if line]


def test_errors_that_quote_names_are_safe(desk: Desk) -> None:
    name = "x\x1b[2Jy\x9b"
    for words in (
        ("show", name),
        ("decode", name),
        ("run", "--agent", name, "x"),
        ("run", f"--{name}", "x"),
        ("run", "--permission", name, "x"),
        ("run", "--timeout", name, "x"),
        (name,),
        (f"--{name}",),
        ("loop", "--resume", name),
        ("batch", "--resume", name),
    ):
        done = desk.rook(*words)
        assert done.returncode == 2, words
        assert not {"\x1b", "\x9b"} & set(done.stderr), words


def test_the_safe_output_is_in_place_on_a_terminal_too(desk: Desk) -> None:
    with Terminal(
        [ROOK, "show", GITHUB], desk.environment(TERM="xterm"), cwd=desk.project
    ) as screen:
        assert screen.finish() == 2
    assert secret_of(GITHUB) not in screen.raw.decode()


def test_what_is_held_back_is_safe_when_it_is_released() -> None:
    below = io.StringIO()
    out = SafeOutput(below, {"CI": "1", "MY_TOKEN": "s3cret-s3cret-s3cret"})
    out.hold()
    out.write("".join(f"{n}\n" for n in range(2000)))
    out.write("::error::s3cret-s3cret-s3cret\n")
    assert below.getvalue() == ""
    out.release()
    lines = below.getvalue().splitlines()
    assert len(lines) == 1000
    assert "s3cret" not in lines[-1]
    assert not lines[-1].startswith("::error::")
    out.hold()
    out.write("gone\n")
    out.drop()
    out.write("shown\n")
    assert below.getvalue().splitlines()[1000:] == ["shown"]
