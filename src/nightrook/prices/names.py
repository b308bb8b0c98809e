"""The spellings of a model's name: providers add regions, makers and versions."""

import re
from collections.abc import Iterator

FREE = ":free"
"""The end of the name of a model that its provider serves for free."""

_BEDROCK_VERSION = re.compile(r"-v\d+(:\d+)?$")
_REGION = re.compile(r"^(us|eu|apac|au|ca|jp|us-gov|global)\.(?=[a-z0-9]+\.)")
_MAKER = re.compile(r"^[a-z0-9]+[./](?=.)")
_ARN = re.compile(r"^arn:[^/]*/")
_CONTEXT = re.compile(r"\[[^\]]*\]$")


def spellings(model: str) -> Iterator[str]:
    """Yield a model's name as it is, then with the providers' additions removed one by one."""
    seen: list[str] = []
    name = model.strip()
    for pattern, replacement in (
        (None, ""),
        (_CONTEXT, ""),
        (_ARN, ""),
        (_REGION, ""),
        (_BEDROCK_VERSION, ""),
        (_MAKER, ""),
    ):
        name = pattern.sub(replacement, name) if pattern else name
        for spelling in (name, name.replace("@", "-")):
            if spelling and spelling not in seen:
                seen.append(spelling)
                yield spelling
