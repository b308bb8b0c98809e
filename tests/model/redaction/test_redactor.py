"""Redaction: tokens by their shape, values by their variable, and nothing else."""

import json
import shlex

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nightrook.model.redaction.redactor import RedactedLines, Redactor
from nightrook.model.redaction.shapes import SHAPES
from nightrook.model.redaction.variables import secrets_of
from nightrook.model.text import cut

steady = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

MIXED = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY" * 4
HEX = "0123456789abcdef" * 4
UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567" * 4
KEY = (
    "-----BEGIN RSA PRIVATE KEY-----\n"
    + "\n".join(MIXED[at : at + 64] for at in (0, 8, 16))
    + "\nshort=\n-----END RSA PRIVATE KEY-----"
)
TOKENS = {
    "Anthropic key": f"sk-ant-api03-{MIXED[:93]}",
    "OpenAI key": f"sk-proj-{MIXED[:60]}",
    "OpenRouter key": f"sk-or-v1-{HEX}",
    "API key": f"sk-{MIXED[:48]}",
    "GitHub token": f"ghp_{MIXED[:36]}",
    "GitLab token": f"glpat-{MIXED[:20]}",
    "AWS key": f"AKIA{UPPER[:16]}",
    "Slack token": "xoxb-123456789012-1234567890123-" + MIXED[:24],
    "Google key": f"AIza{MIXED[:35]}",
    "Google token": f"ya29.{MIXED[:60]}",
    "Google client secret": f"GOCSPX-{MIXED[:28]}",
    "JSON web token": f"eyJ{MIXED[:20]}.eyJ{MIXED[:30]}.{MIXED[:43]}",
    "npm token": f"npm_{MIXED[:36]}",
    "PyPI token": f"pypi-AgEIcHlwaS5vcmc{MIXED[:60]}",
    "Hugging Face token": f"hf_{MIXED[:34]}",
    "Stripe key": f"sk_live_{MIXED[:24]}",
    "SendGrid key": f"SG.{MIXED[:22]}.{MIXED[:43]}",
    "Groq key": f"gsk_{MIXED[:52]}",
    "xAI key": f"xai-{MIXED[:80]}",
    "DigitalOcean token": f"dop_v1_{HEX}",
    "Docker token": f"dckr_pat_{MIXED[:27]}",
    "Shopify token": f"shpat_{HEX[:32]}",
    "Vault token": f"hvs.{MIXED[:90]}",
    "Linear key": f"lin_api_{MIXED[:40]}",
    "Notion token": f"ntn_{MIXED[:46]}",
    "Tailscale key": f"tskey-auth-{MIXED[:30]}",
    "age key": f"AGE-SECRET-KEY-1{UPPER[:58]}",
    "Databricks token": f"dapi{HEX[:32]}",
    "Figma token": f"figd_{MIXED[:40]}",
    "Grafana token": f"glsa_{MIXED[:40]}",
    "Sentry token": f"sntrys_{MIXED[:60]}",
    "Postman key": f"PMAK-{HEX[:24]}-{HEX[:34]}",
    "New Relic key": f"NRAK-{UPPER[:27]}",
    "Atlassian token": f"ATATT3{MIXED[:60]}",
    "PlanetScale token": f"pscale_tkn_{MIXED[:43]}",
    "Supabase token": f"sbp_{HEX[:40]}",
    "Replicate token": f"r8_{MIXED[:37]}",
    "Perplexity key": f"pplx-{MIXED[:48]}",
    "Pulumi token": f"pul-{HEX[:40]}",
    "Square token": f"sq0csp-{MIXED[:43]}",
    "Square access token": f"EAAA{MIXED[:60]}",
    "Doppler token": f"dp.pt.{MIXED[:43]}",
    "Fly token": f"fo1_{MIXED[:43]}",
    "Buildkite token": f"bkua_{HEX[:40]}",
    "CircleCI token": f"CCIPAT_{MIXED[:22]}_{HEX[:40]}",
    "Bitbucket token": f"ATBB{MIXED[:32]}",
    "Notion secret": f"secret_{MIXED[:43]}",
    "RubyGems key": f"rubygems_{HEX[:48]}",
    "Telegram token": f"123456789:AA{MIXED[:33]}",
}
"""A made-up token of each shape."""

PLACES = {
    "alone": "{}",
    "in a sentence": "the key is {}, keep it",
    "assigned": "export KEY={}\n",
    "quoted": '"{}"',
    "after a colour code": "␛[31m{}␛[0m",
    "after an escape of JSON": '{{"a":"x\\n{}\\ny"}}',
    "in an address": "https://example.org/?token={}&x=1",
    "between letters of a script": "ключ {} 鍵",
}
NEAR_MISSES = (
    "risk-assessment-of-the-whole-project",
    "task-1234567890123456789012345",
    "npm_config_registry npm_lifecycle_event npm_package_json",
    "ghp_short",
    "sk-learn sk-ant-",
    "toolu_01A09q90qw90lq917835lq9 msg_01XFDUDYJgAACzvnptvVoYEL",
    "6f7c2f0e-5f0b-4a53-9d0e-0d6c2a1b7e55",
    "e83c5163316f89bfbde7d9ab23ca2e25604af290",
    "AKIAIOSFODNN",
    "eyJhbGciOiJIUzI1NiJ9",
    "hf_transfer hf_hub_download_with_retries",
    "http://localhost:8080/path?user=a@b.example",
    "ssh://git@example.org/repo.git",
    "mailto:someone@example.org",
    "postgres://user:$PASSWORD@db/x",
    "Authorization: Bearer $TOKEN",
    "bearer of bad news, and of good ones",
    "std::vector<int>::iterator",
    "-----BEGIN PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----",
    "src/nightrook/model/redaction/shapes.py:123:45",
)


def mark(name: str) -> str:
    """What is shown instead of a token of a shape."""
    return f"{'123456789' if name == 'Telegram token' else ''}[redacted: {name}]"


def secret_of(token: str) -> str:
    """The part of a token that must not be seen anywhere."""
    return token[-12:]


def test_each_shape_has_an_example() -> None:
    assert set(TOKENS) == {shape.name for shape in SHAPES}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("name", TOKENS)
def test_a_token_is_replaced_by_its_name(name: str, place: str) -> None:
    shown = Redactor().text(place.format(TOKENS[name]))
    assert shown == place.format(mark(name))


@pytest.mark.parametrize("start", [start for shape in SHAPES for start in shape.starts.split()])
def test_every_start_of_a_shape_is_found(start: str) -> None:
    shape = next(shape for shape in SHAPES if start in shape.starts.split())
    example = TOKENS[shape.name]
    known = next((known for known in shape.starts.split() if known in example), "ghp_")
    token = example.replace(known, start, 1)
    assert Redactor().text(f"x {token} y") == f"x {mark(shape.name)} y"


@pytest.mark.parametrize("text", NEAR_MISSES)
def test_what_only_looks_like_a_token_stays(text: str) -> None:
    assert Redactor().text(text) is text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://me:hunter2@example.org/x", "https://me:[redacted: password]@example.org/x"),
        ("redis://:hunter2@db:6379", "redis://:[redacted: password]@db:6379"),
        ("Authorization: Bearer abc.def-123456789", "Authorization: Bearer [redacted: credential]"),
        (
            "authorization: Basic dXNlcjpwYXNzd29yZA==",
            "authorization: Basic [redacted: credential]",
        ),
        (
            "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "AWS_SECRET_ACCESS_KEY=[redacted: credential]",
        ),
        (
            f"https://hooks.slack.com/services/T00000000/B00000000/{MIXED[:24]}",
            "https://hooks.slack.com/services/[redacted: webhook]",
        ),
        (f"a\n{KEY}\nb", "a\n[redacted: private key]\nb"),
        (json.dumps({"key": KEY}), '{"key": "[redacted: private key]"}'),
    ],
)
def test_what_stands_around_a_secret_gives_it_away(text: str, shown: str) -> None:
    assert Redactor().text(text) == shown


@pytest.mark.parametrize("name", [name for name in TOKENS if name != "JSON web token"])
@pytest.mark.parametrize("dots", ["...", "…"])
def test_a_token_that_a_display_cut_is_replaced(name: str, dots: str) -> None:
    token = TOKENS[name]
    for length in range(len(token) - 1, 26, -1):
        shown = Redactor().text(f"key {token[:length]}{dots}")
        assert shown == f"key {mark(name)}{dots}", length


VALUE = "correct-horse/battery+staple"


@pytest.mark.parametrize(
    "name",
    [
        "ANTHROPIC_API_KEY",
        "MY_TOKEN",
        "client_secret",
        "DB_PASSWORD",
        "MYSQL_PWD",
        "DB_PASS",
        "AZURE_DEVOPS_EXT_PAT",
        "SERVICE_CREDENTIALS",
        "OPENAIAPIKEY",
        "GH_TOKEN_2",
        "SECRET_VALUE",
    ],
)
def test_the_value_of_a_secret_variable_is_replaced_by_its_name(name: str) -> None:
    redactor = Redactor({name: VALUE, "HOME": "/home/dev"})
    assert redactor.text(f"<{VALUE}> /home/dev") == f"<[redacted: ${name}]> /home/dev"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PATH", "/usr/local/bin:/usr/bin"),
        ("PWD", "/home/dev/project"),
        ("OLDPWD", "/home/dev/project"),
        ("KEYBOARD_LAYOUT", "dvorak-programmer-1"),
        ("SSH_AUTH_SOCK", "/run/user/1000/ssh-agent.sock"),
        ("SSL_KEY_FILE", "/etc/ssl/private/server.pem"),
        ("SECRET_BACKEND", "kubernetes"),
        ("MAX_OUTPUT_TOKENS", "32000000"),
        ("DB_PASSWORD", "postgres"),
        ("DB_PASSWORD", "Changeme"),
        ("API_KEY", "short"),
        ("API_KEY", "aaaaaaaaaaaa"),
        ("API_KEY", ""),
    ],
)
def test_other_values_stay(name: str, value: str) -> None:
    assert secrets_of({name: value}) == {}


@pytest.mark.parametrize("value", [VALUE, 'it\'s "quoted" \\ here 42', "two words 1234"])
def test_a_value_is_found_in_json_and_in_a_command(value: str) -> None:
    redactor = Redactor({"MY_SECRET": value})
    assert redactor.text(json.dumps({"a": value})) == '{"a": "[redacted: $MY_SECRET]"}'
    assert value not in redactor.text(shlex.join(["say", value]))
    assert "[redacted: $MY_SECRET]" in redactor.text(shlex.join(["say", value]))


def test_each_line_of_a_value_is_a_secret() -> None:
    redactor = Redactor({"TLS_KEY": KEY})
    for line in KEY.split("\n")[1:4]:
        assert redactor.text(f"| {line} |") == "| [redacted: $TLS_KEY] |"


def test_a_value_that_a_display_cut_is_replaced() -> None:
    redactor = Redactor({"MY_TOKEN": VALUE})
    for length in range(16, len(VALUE) + 3):
        shown = redactor.text(cut(VALUE + " and more text", length))
        assert VALUE[:12] not in shown, length


def test_redaction_does_not_hide_what_a_shell_would_run() -> None:
    for text in (
        f"curl https://x:$(rm -rf ~)@{TOKENS['GitHub token']}; rm -rf ~",
        f"echo {TOKENS['Anthropic key']}&&rm -rf ~",
        "curl -H 'Authorization: Bearer 0123456789abcdef';rm -rf ~",
        "-----BEGIN PRIVATE KEY----- AAAA; rm -rf ~",
        f"{KEY.replace('short=', 'rm -rf ~')}",
        "https://user:pass;rm -rf ~@host",
    ):
        assert "rm -rf ~" in Redactor().text(text)


ANYTHING = st.text() | st.sampled_from([*TOKENS.values(), *NEAR_MISSES, KEY, VALUE, "://", "@"])


@steady
@given(st.lists(ANYTHING).map("".join))
def test_any_text_can_be_redacted_and_a_second_time_changes_nothing(text: str) -> None:
    redactor = Redactor({"MY_TOKEN": VALUE})
    once = redactor.text(text)
    assert redactor.text(once) == once
    assert VALUE not in once


@steady
@given(st.text(), st.sampled_from(sorted(TOKENS.values())), st.text())
def test_a_token_between_anything_is_replaced(before: str, token: str, after: str) -> None:
    shown = Redactor().text(f"{before} {token} {after}")
    assert secret_of(token) not in shown


@steady
@given(st.dictionaries(st.text(), st.text() | st.sampled_from([KEY, VALUE, *TOKENS.values()])))
def test_json_stays_json(value: dict[str, str]) -> None:
    data = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    shown = Redactor({"MY_TOKEN": VALUE}).data(data)
    assert len(json.loads(shown)) <= len(value)
    assert not any(secret_of(token).encode() in shown for token in (VALUE, *TOKENS.values()))


def test_text_without_secrets_is_not_copied() -> None:
    text = "Nothing to see here. " * 1000
    data = text.encode()
    assert Redactor().text(text) is text
    assert Redactor().data(data) is data


def test_a_private_key_that_comes_line_by_line_is_replaced() -> None:
    redacted = RedactedLines(Redactor())
    lines = f"before\n{KEY}\nafter".split("\n")
    shown = [redacted(f"{line}\n") for line in lines]
    assert shown[0] == "before\n"
    assert shown[-1] == "after\n"
    assert set(shown[1:-1]) == {"[redacted: private key]\n"}


@steady
@given(st.lists(st.integers(0, len(KEY)), max_size=5))
def test_a_private_key_that_ends_early_hides_only_itself(cuts: list[int]) -> None:
    lines = f"before\n{KEY[: min(cuts, default=0)]}\nsome words\nafter".split("\n")
    redacted = RedactedLines(Redactor())
    shown = "".join(redacted(f"{line}\n") for line in lines)
    assert shown.startswith("before\n")
    assert shown.endswith("some words\nafter\n")
    assert MIXED[8:40] not in shown or len(KEY[: min(cuts, default=0)]) < 40


@pytest.mark.parametrize(
    "piece",
    [
        *("eyJ", "0meyJ", "_eyJ-", "eyJa.", "SG.", "SG.a", "ghp_", "sk-", "AKIA", "xoxb-", ":AA"),
        *("://", "://a:", "://:a", "a@", "bearer ", "Bearer 1", "Authorization: Basic ", "\\n"),
        *(
            "-----BEGIN PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----\n",
            "hooks.slack.com/services/",
        ),
        *(
            "aws_secret_access_key ",
            "aws_secret_access_key=",
            "a",
            "a ",
            VALUE[:12],
            VALUE[:-1],
            " ",
        ),
    ],
)
def test_hostile_text_takes_no_longer_than_other_text(piece: str) -> None:
    # With work that grows with the square of the size, this would not end today.
    text = piece * (500_000 // len(piece)) + "PRIVATE KEY @ ://"
    redactor = Redactor({"MY_TOKEN": VALUE})
    redactor.text(text)
    redactor.unfinished(text)
    RedactedLines(redactor)(text)
