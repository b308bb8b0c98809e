"""Made-up secrets of forty kinds, as they stand in prompts, commands and outputs."""

import random

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def _body(seed: str, size: int, letters: str = _LETTERS) -> str:
    made = random.Random(seed)
    return "".join(made.choice(letters) for _ in range(size))


def _hex(seed: str, size: int) -> str:
    return _body(seed, size, "0123456789abcdef")


def _upper(seed: str, size: int) -> str:
    return _body(seed, size, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")


_STARTS = """
    sk-ant-api03- sk-proj- sk-or-v1- sk- ghp_ gho_ github_pat_ glpat- xoxb- xapp- AIza ya29.
    GOCSPX- npm_ pypi-AgE hf_ sk_live_ whsec_ gsk_ xai- dckr_pat_ hvs. lin_api_ ntn_ tskey-
    figd_ glsa_ sntrys_ PMAK- ATATT3 pscale_tkn_ r8_ pplx- sq0csp-
"""
BODIES = {start: _body(start, 48) for start in _STARTS.split()} | {
    "AKIA": _upper("aws", 16),
    "NRAK-": _upper("relic", 27),
    "dop_v1_": _hex("ocean", 64),
    "shpat_": _hex("shop", 32),
    "dapi": _hex("bricks", 32),
    "sbp_": _hex("base", 40),
    "AGE-SECRET-KEY-1": _upper("age", 58),
}
"""By how each begins, what follows."""

SECRETS = {
    **{start: f"{start}{body}" for start, body in BODIES.items()},
    "web token": f"eyJ{_body('head', 20)}.eyJ{_body('claims', 40)}.{_body('sign', 40)}",
    "mail": f"SG.{_body('mail', 22)}.{_body('grid', 43)}",
    "chat": f"123456789:AA{_body('bot', 33)}",
    "address": f"postgres://app:{_body('pass', 20)}@db.example.com/app",
    "header": f"Authorization: Bearer {_body('bearer', 40)}7",
    "aws secret": f"aws_secret_access_key = {_body('cloud', 40)}",
    "webhook": f"https://hooks.slack.com/services/T0/B0/{_body('hook', 24)}",
}
"""Each secret as it stands in a text."""

PARTS = [
    *BODIES.values(),
    *(_body(seed, size) for seed, size in (("head", 20), ("claims", 40), ("mail", 22))),
    *(_body(seed, size) for seed, size in (("bot", 33), ("pass", 20), ("bearer", 40))),
    *(_body(seed, size) for seed, size in (("cloud", 40), ("hook", 24))),
]
"""What no output may have."""
