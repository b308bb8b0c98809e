"""The shapes of known kinds of tokens, and a quick search for them."""

import re
from functools import cache
from typing import NamedTuple

_WORD, _ALNUM, _HEX = rb"[A-Za-z0-9_-]", rb"[A-Za-z0-9]", rb"[a-f0-9]"
# Not inside of a word; what ends an escape of JSON or a colour code does not count.
_ALONE = rb"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt])|(?<=\[[0-9]m)|(?<=[\[;][0-9]{2}m))"
CUT = rb"(?=\.\.\.|\xe2\x80\xa6)"
"""A pattern for the end of text that a display has cut."""

_LEAST_OF_CUT = 8


class Shape(NamedTuple):
    """The shape of a kind of token: its beginning, which nothing else has, and its characters."""

    name: str
    starts: str
    body: bytes
    least: int
    """The fewest characters of the body that make a token; fewer do where text was cut."""

    before: bytes = b""
    after: bytes = b""


SHAPES = (
    Shape("Anthropic key", "sk-ant-", _WORD, 16),
    Shape("OpenAI key", "sk-proj- sk-svcacct- sk-admin-", _WORD, 16),
    Shape("OpenRouter key", "sk-or-v1- sk-or-", _ALNUM, 20),
    Shape("API key", "sk-", _ALNUM, 20, _ALONE),
    Shape("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", _ALNUM, 30),
    Shape("GitHub token", "github_pat_", rb"\w", 20),
    Shape("GitLab token", "glpat- gldt- glrt- glcbt- glptt- glft- glagent- glsoat-", _WORD, 16),
    Shape("AWS key", "AKIA ASIA ABIA ACCA", rb"[A-Z0-9]", 16, _ALONE),
    Shape("Slack token", "xoxa- xoxb- xoxc- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", _WORD, 16),
    Shape("Google key", "AIza", _WORD, 30),
    Shape("Google token", "ya29.", _WORD, 20),
    Shape("Google client secret", "GOCSPX-", _WORD, 20),
    Shape("JSON web token", "eyJ", _WORD, 8, _ALONE, rb"\.eyJ[\w-]{8,}(?:\.[\w-]*)?"),
    Shape("npm token", "npm_", _ALNUM, 30),
    Shape("PyPI token", "pypi-AgE", _WORD, 30),
    Shape("Hugging Face token", "hf_", _ALNUM, 30),
    Shape("Stripe key", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ whsec_", _ALNUM, 16),
    Shape("SendGrid key", "SG.", _WORD, 16, _ALONE, rb"\.[\w-]{16,}"),
    Shape("Groq key", "gsk_", _ALNUM, 32),
    Shape("xAI key", "xai-", _ALNUM, 32),
    Shape("DigitalOcean token", "doo_v1_ dop_v1_ dor_v1_", _HEX, 32),
    Shape("Docker token", "dckr_pat_ dckr_oat_", _WORD, 16),
    Shape("Shopify token", "shpat_ shpca_ shppa_ shpss_", _HEX, 32),
    Shape("Vault token", "hvs. hvb.", _WORD, 20),
    Shape("Linear key", "lin_api_", _ALNUM, 32),
    Shape("Notion token", "ntn_", _ALNUM, 40),
    Shape("Tailscale key", "tskey-", _WORD, 20),
    Shape("age key", "AGE-SECRET-KEY-1", rb"[A-Z0-9]", 50),
    Shape("Databricks token", "dapi", _HEX, 32, _ALONE),
    Shape("Figma token", "figd_ figo_", _WORD, 32),
    Shape("Grafana token", "glsa_ glc_", _WORD, 28),
    Shape("Sentry token", "sntrys_ sntryu_", _WORD, 32),
    Shape("Postman key", "PMAK-", _WORD, 32),
    Shape("New Relic key", "NRAK-", rb"[A-Z0-9]", 24),
    Shape("Atlassian token", "ATATT3 ATCTT3", _WORD, 40),
    Shape("PlanetScale token", "pscale_tkn_ pscale_pw_ pscale_oauth_", _WORD, 30),
    Shape("Supabase token", "sbp_", _HEX, 40),
    Shape("Replicate token", "r8_", _ALNUM, 36, _ALONE),
    Shape("Perplexity key", "pplx-", _ALNUM, 40),
    Shape("Pulumi token", "pul-", _HEX, 40, _ALONE),
    Shape("Square token", "sq0atp- sq0csp-", _WORD, 22),
    Shape("Square access token", "EAAA", _WORD, 56, _ALONE),
    Shape("Doppler token", "dp.pt. dp.ct. dp.sa. dp.scim. dp.audit.", _WORD, 40),
    Shape("Fly token", "fo1_ fm1r_ fm1a_ fm2_", rb"[\w+/=-]", 40),
    Shape("Buildkite token", "bkua_ bkat_ bkaj_ bkct_", _ALNUM, 32),
    Shape("CircleCI token", "CCIPAT_ CCIPRJ_", _WORD, 40),
    Shape("Bitbucket token", "ATBB", _ALNUM, 24, _ALONE),
    Shape("Notion secret", "secret_", _ALNUM, 40, _ALONE),
    Shape("RubyGems key", "rubygems_", _HEX, 40),
    Shape("Telegram token", ":AA", _WORD, 32, rb"(?<=[0-9]{8})"),
)
"""Tokens that their first characters give away."""

_STARTS = tuple(start for shape in SHAPES for start in shape.starts.split())
_TABLE = bytes(
    97 if chr(n).isascii() and (chr(n).isalnum() or n in b"_-") else 32 for n in range(256)
)
LONG_WORD = b"a" * 12
"""A part of the `marked_words` of every token, even of one that was cut."""

_BEFORE_WORD = 12  # how much of a token may be before its long word: `dp.st.prd.`


def marked_words(data: bytes) -> bytes:
    """Text with an `a` for each character of a word, and a blank for all others."""
    return data.translate(_TABLE)


def without_tokens(data: bytes, marks: bytes) -> bytes:
    """Replace tokens by their names; only words that are marked as long are searched."""
    parts: list[bytes] = []
    done, at = 0, marks.find(LONG_WORD)
    while at >= 0:
        end = marks.find(b" ", at)
        end = len(data) if end < 0 else end
        for start in _starts().finditer(data, max(done, at - _BEFORE_WORD), end):
            token = _tokens().match(data, start.start()) if start.start() >= done else None
            if token:
                parts += (data[done : token.start()], _mark(token))
                done = token.end()
        at = marks.find(LONG_WORD, max(end, done))
    return b"".join((*parts, data[done:])) if parts else data


class Form(NamedTuple):
    """A kind of token whose first characters are in other words as well."""

    name: str
    has: bytes
    """A part of every text that has one."""

    whole: bytes
    marked: bytes = b""
    """A part of the `marked_words` of one."""


FORMS = (
    Form(
        "Discord token",
        b".",
        rb"(?<![\w-])[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,}",
        b"a" * 22 + b" " + b"a" * 6 + b" " + b"a" * 27,
    ),
    Form("Doppler token", b"dp.st.", rb"dp\.st\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,}"),
    Form("Mailgun key", b"key-", rb"(?<![\w-])key-[a-f0-9]{32}(?![\w-])"),
    Form("Twilio key", b"SK", rb"(?<![\w-])SK[a-f0-9]{32}(?![\w-])"),
    Form("Dropbox token", b"sl.", rb"(?<![\w-])sl\.(?:u\.)?[\w-]{60,}"),
    Form("Airtable token", b"pat", rb"(?<![\w-])pat[A-Za-z0-9]{14}\.[a-f0-9]{40,}"),
    Form("crates.io token", b"cio", rb"(?<![\w-])cio[A-Za-z0-9]{32}(?![\w-])"),
    Form("Terraform token", b".atlasv1.", rb"(?<![\w-])[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,}"),
    Form("Mailchimp key", b"-us", rb"(?<![A-Za-z0-9])[a-f0-9]{32}-us[0-9]{1,2}(?![A-Za-z0-9])"),
)


def without_forms(data: bytes, marks: bytes) -> bytes:
    """Replace tokens that no start gives away by their names."""
    for form, pattern in zip(FORMS, _forms(), strict=True):
        if form.has in data and form.marked in marks:
            hidden, count = pattern.subn(f"[redacted: {form.name}]".encode(), data)
            data = hidden if count else data
    return data


_FORM_BEGUN = re.compile(
    r"(?<![\w-])(?:[MNO][\w-]{11,27}(?:\.[\w-]{0,6}(?:\.[\w-]{0,80})?)?|dp\.st\.[\w.-]{0,80}"
    r"|(?:pat|cio)[A-Za-z0-9]{8,32}(?:\.[a-f0-9]{0,80})?|(?:key-|SK)[a-f0-9]{4,32}"
    r"|sl\.(?:u\.)?[\w-]{8,110}|[A-Za-z0-9]{14}\.[a-z0-9]{0,8}(?:\.[\w-]{0,80})?|[a-f0-9]{12,32}(?:-u?s?[0-9]{0,2})?)\Z"
)
_LONGEST_FORM = 128


def unfinished_form(text: str) -> int:
    """Return the number of characters at the end that may be the beginning of such a token."""
    begun = _FORM_BEGUN.search(text, max(0, len(text) - _LONGEST_FORM))
    return len(text) - begun.start() if begun else 0


def has_start(word: str) -> bool:
    """True if a token may start in a word."""
    return _starts().search(word.encode("utf-8", "replace")) is not None


def _mark(token: re.Match[bytes]) -> bytes:
    return f"[redacted: {SHAPES[(token.lastindex or 1) - 1].name}]".encode()


@cache
def _starts() -> re.Pattern[bytes]:
    """Return a pattern for the start of a token: one branch per first letter, which is fast."""
    rests: dict[str, list[str]] = {}
    for start in _STARTS:
        rests.setdefault(start[0], []).append(re.escape(start[1:]))
    branches = (f"{first}(?:{'|'.join(parts)})" for first, parts in rests.items())
    return re.compile("|".join(branches).encode())


@cache
def _forms() -> list[re.Pattern[bytes]]:
    return [re.compile(form.whole) for form in FORMS]


@cache
def _tokens() -> re.Pattern[bytes]:
    return re.compile(b"|".join(map(_token, SHAPES)))


def _token(shape: Shape) -> bytes:
    starts = b"|".join(re.escape(start.encode()) for start in shape.starts.split())
    whole = rb"%b{%d,}%b" % (shape.body, shape.least, shape.after)
    cut = rb"%b{%d,}(?:\.[\w-]+)?%b" % (shape.body, _LEAST_OF_CUT, CUT)
    return b"(" + shape.before + b"(?:" + starts + b")(?:" + whole + b"|" + cut + b"))"
