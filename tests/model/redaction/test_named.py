"""Secrets that a name marks are hidden in every place they can be in; harmless text is not."""

import json
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightrook.model.events import TextDelta
from nightrook.model.records import Record
from nightrook.model.redaction.deltas import UnsplitSecrets
from nightrook.model.redaction.redactor import Redactor
from nightrook.model.redaction.shapes import FORMS

VALUE = "kJ8sQ2xV9bTz4LmW7pRy"
BASE64 = "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk="
LOGIN = "dXNlcjpwYXNzd29yZA=="
SHORT = "hunter2!"
HEX = "9f86d081884c7d659a2feaa0c55ad015"
KINDS = (
    (VALUE, "DB_PASSWORD={}"),
    (VALUE, 'API_KEY = "{}"'),
    (VALUE, "export X_TOKEN='{}'"),
    (VALUE, "export X_TOKEN={} && make"),
    (BASE64, "PrivateKey = {}"),
    (BASE64, "PresharedKey = {}"),
    (BASE64, "AccountName=x;AccountKey={};EndpointSuffix=core"),
    (SHORT, "password: {}"),
    (SHORT, "  password: '{}'"),
    (SHORT, "The password: {}"),
    (SHORT, "Server=db;User=sa;Password={};"),
    ("Sommer2024", "passwd={}"),
    ("12345678", "password={}"),
    ("correct horse 1 battery", 'passphrase: "{}"'),
    (VALUE, "TWILIO_AUTH_TOKEN={}"),
    (VALUE, "CLOUDFLARE_API_KEY={}"),
    (VALUE, "VERCEL_AUTOMATION_BYPASS_SECRET={}"),
    (VALUE, "STRIPE_KEY={}"),
    (VALUE, "AWS_SECRET_ACCESS_KEY={}"),
    (VALUE, "SECRET_KEY_BASE={}"),
    (VALUE, "secret_key_base: {}"),
    (VALUE, "SESSION_SECRET={}"),
    (VALUE, "GITLAB_PAT={}"),
    (VALUE, "DB_PASS={}"),
    (VALUE, "PGPASSWORD={} psql"),
    (VALUE, '"client_secret": "{}"'),
    (VALUE, '"clientSecret":"{}"'),
    (HEX, '"private_key_id": "{}"'),
    (LOGIN, '"auth": "{}"'),
    (LOGIN, "_auth={}"),
    (VALUE, "//registry.example.org/:_authToken={}"),
    (VALUE, "    token: {}"),
    (VALUE, "    client-key-data: {}"),
    (VALUE, "'api_key' => '{}'"),
    (VALUE, 'conn.password := "{}"'),
    (VALUE, "os.environ['API_KEY'] = '{}'"),
    (VALUE, 'api.token("x"); token = "{}";'),
    (VALUE, "access_token={}"),
    (VALUE, "refresh_token: {}"),
    (VALUE, "credentials = {}"),
    (VALUE, "--token {}"),
    (VALUE, "--token={}"),
    (VALUE, "--api-key '{}'"),
    (VALUE, "--access-token {} --verbose"),
    (SHORT, "--password {}"),
    (SHORT, '["--password", "{}"]'),
    (SHORT, "curl -u user:{} https://example.org"),
    ("pw", "curl -s -u user:{} https://example.org"),
    (SHORT, "curl --user user:{} https://example.org"),
    (SHORT, "wget --user user:{} https://example.org"),
    (SHORT, "mysql -u root -p'{}' db"),
    ("swordfish", "mysqldump -uroot -p{} db"),
    ("swordfish", "sshpass -p '{}' ssh host"),
    ("swordfish", "htpasswd -b .htpasswd user {}"),
    ("swordfish", 'htpasswd -nbBC 10 "" {}'),
    ("swordfish", "redis-cli -h host -a {} ping"),
    ("swordfish", "docker login -u me -p {} registry"),
    ("swordfish", "openssl rsa -passin pass:{} -in key"),
    (SHORT, "https://user:{}@example.org/x"),
    (VALUE, "x-api-key: {}"),
    (VALUE, '-H "PRIVATE-TOKEN: {}"'),
    (VALUE, "X-Auth-Token: {}"),
    (VALUE, "Cookie: session={}; theme=dark"),
    (VALUE, "Set-Cookie: a=b; sid={}; HttpOnly"),
    (VALUE, "curl --cookie 'sid={}' x"),
    ("dXNlcjpwYXNz", "Authorization: Basic {}"),
    (VALUE, "Authorization: Token {}"),
    (VALUE, "https://example.org/?api_key={}"),
    (VALUE, "https://example.org/?a=1&key={}&b=2"),
    ("abc%2Fdef123456%3D", "https://x.blob.example.org/?sv=1&sig={}"),
    ("swordfish", "machine example.org login me password {}"),
    ("swordfish", "machine example.org\n  login me\n  password {}\n"),
    ("kJ8sQ2xV9bTz4LmW7pRykJ8sQ2xV9bTz4LmW", "https://discord.com/api/webhooks/123456789012/{}"),
    (f"MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.{VALUE}aB3dE5f", "the bot {}"),
    (f"key-{HEX}", "mailgun {}"),
    (f"{HEX}-us12", "mailchimp {}"),
    (f"SK{HEX}", "twilio {}"),
    (f"dp.st.prd.{VALUE}{VALUE}aB3", "doppler {}"),
    (f"fo1_{VALUE}{VALUE}a-3", "fly {}"),
    (f"fm2_{VALUE}{VALUE}+/{VALUE}==", "FlyV1 {}"),
    (f"bkua_{HEX}{HEX[:8]}", "buildkite {}"),
    (f"CCIPAT_{VALUE}_{HEX}{HEX[:8]}", "circleci {}"),
    (f"EAAA{VALUE}{VALUE}{VALUE}", "square {}"),
    (f"sl.u.{VALUE}{VALUE}{VALUE}{VALUE}", "dropbox {}"),
    (f"ATBB{VALUE}{VALUE[:8]}", "bitbucket {}"),
    (f"kJ8sQ2xV9bTz4L.atlasv1.{VALUE}{VALUE}{VALUE}a", "terraform {}"),
    (f"secret_{VALUE}{VALUE}abc", "notion {}"),
    (f"patkJ8sQ2xV9bTz4L.{HEX}{HEX}", "airtable {}"),
    (f"rubygems_{HEX}{HEX[:16]}", "gem {}"),
    (f"cio{VALUE}{VALUE[:12]}", "cargo {}"),
    (f"ATATT3{VALUE}{VALUE}{VALUE}", "jira {}"),
)
"""A secret, and what stands around it."""

HARMLESS = (
    "password must be at least 8 characters",
    "tokenize(token)",
    "token_count = 3",
    "e83c5163316f89bfbde7d9ab23ca2e25604af290",
    "6f7c2f0e-5f0b-4a53-9d0e-0d6c2a1b7e55",
    "theme=dark",
    "password: str",
    "password: Optional[str] = None",
    "password: FilterOrBool = False",
    "token = next(tokens)",
    "token: Token",
    "self.token = token",
    'password = input("Password: ")',
    "def ask(prompt='Password: ', stream=None)",
    'password=os.environ["DB_PASSWORD"]',
    "--token $TOKEN",
    "PASSWORD=${DB_PASSWORD}",
    '"token": "string"',
    '"input_tokens": 123456789',
    "max_tokens=4096",
    "PWD=/home/user1/project2",
    '"jsonwebtoken": "^9.0.2"',
    '"next-auth": "4.24.5"',
    "auth: oauth2-proxy",
    "docker run -u 1000:1000 image",
    "docker run -u app:app image",
    'secret = get_secret("x1")',
    "api_key=settings.api_key",
    "password: newPassword",
    '"password": "********"',
    "token: <your-token-1>",
    "password_min_length=12",
    "password: 8-64 characters",
    "api_key: {{ secrets.KEY1 }}",
    "Authorization: Bearer $TOKEN",
    "Authorization: Basic authentication is used",
    "SECRET_FILE=/run/secrets/x1",
    "secret: /run/secrets/db1",
    "key: value1",
    "cache_key: v2-linux-abc123def456ghi789jkl",
    f"PublicKey = {BASE64}",
    'if token == "abc":',
    "password_hash: bcrypt",
    "password: argon2",
    "const token = req.headers.token",
    "token := lexer.Next()",
    "type Token = string",
    '"auth": "basic"',
    "auth: true",
    'password: "required|min:8"',
    "token_type: bearer",
    "expires_token=3600",
    "sort_key=created_at_2024_01_01_desc1",
    "author: jane2",
    "authority: https://login1.example",
    "path=/usr/bin1",
    "The token: see section 4.2 of RFC 6749",
    "Cookie: theme=dark",
    "--password-file /run/x1",
    "secret-scanning: enabled",
    '"pass": "All 12 elements of the page have 1 name each, as they should"',
    "token 12 of 40",
    "Compass: N42",
)
AROUND = {
    "alone": "{}",
    "in prose": "Now I run it: {} and look.",
    "in lines": "first\n{}\nlast",
    "in a diff": "@@ -1 +1 @@\n-old\n+{}\n",
    "in a listing": "   12→{}\n   13→}}",
    "in Markdown": "Use `{}` here.",
}


@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND)
@pytest.mark.parametrize(("secret", "place"), KINDS)
def test_a_named_secret_is_hidden(secret: str, place: str, around: str) -> None:
    if place.startswith("htpasswd") and around not in (AROUND["alone"], AROUND["in lines"]):
        around = "{}"  # its last word is known by the end of the command
    text = around.format(place.format(secret))
    shown = Redactor().text(text)
    assert secret not in shown
    assert "[redacted: " in shown
    assert shown.splitlines()[0][:4] == text.splitlines()[0][:4] or shown.startswith("[redacted")


@pytest.mark.parametrize(("secret", "place"), KINDS)
def test_it_is_hidden_in_lines_of_json_too(secret: str, place: str) -> None:
    line = json.dumps({"type": "text", "text": place.format(secret)}).encode()
    shown = Redactor().data(line)
    assert secret not in json.loads(shown)["text"]
    twice = json.dumps({"raw": line.decode()}).encode()
    assert secret not in json.loads(json.loads(Redactor().data(twice))["raw"])["text"]


@pytest.mark.parametrize("at", range(1, 40))
@pytest.mark.parametrize(("secret", "place"), KINDS[:40:3])
def test_a_delta_that_ends_within_it_waits(secret: str, place: str, at: int) -> None:
    text = f"{place.format(secret)} and more"
    stream = UnsplitSecrets({})
    shown = ""
    for seq, piece in enumerate((text[:at], text[at:], " of it.", "\nThe end.")):
        record = Record(seq=seq, at=None, offset=0, length=1, event=TextDelta(id="a", text=piece))
        event = stream.unsplit(record).event
        assert isinstance(event, TextDelta)
        shown += event.text or ""
    assert secret not in shown


@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND)
@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_is_shown(text: str, around: str) -> None:
    whole = around.format(text)
    assert Redactor().text(whole) == whole


def test_there_are_as_many_kinds_as_were_found_to_leak() -> None:
    assert len(KINDS) >= 90
    assert len(HARMLESS) >= 60
    assert {form.name for form in FORMS} <= {
        Redactor().text(secret).removeprefix("[redacted: ").removesuffix("]") for secret, _ in KINDS
    }


HOSTILE = (
    *("password", "token=", "--", " -u a:", "cookie: ", "=" * 8, "\\" * 8, '"', "api_key", "key "),
    *("machine login password ", "mysql ", "curl -u ", "htpasswd -b ", "authorization: basic "),
    *("[MN.", "a" * 22 + ".aaaaaa.", "-----BEGIN PRIVATE KEY-----\n", "+\n", "A" * 20 + "\n"),
)


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_repetition_takes_linear_time(piece: str) -> None:
    redactor = Redactor()

    def spent(size: int) -> float:
        text = piece * (size // len(piece))
        best = float("inf")
        for _ in range(3):
            before = process_time()
            redactor.text(text)
            best = min(best, process_time() - before)
        return best

    assert spent(400_000) < 12 * spent(100_000) + 0.02  # four times the text


@settings(deadline=None)
@given(st.lists(st.sampled_from([*HOSTILE, "x", " ", "\n", "'", "9"]), max_size=60).map("".join))
def test_anything_can_be_redacted_twice(text: str) -> None:
    redactor = Redactor()
    twice = redactor.text(redactor.text(text))
    assert "[redacted: [" not in twice
