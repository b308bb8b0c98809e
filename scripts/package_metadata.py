"""Completes the package's metadata at build time: addresses, and the README that indexes show.

Hatchling runs this. The one setting is `repository` in `[tool.hatch.metadata.hooks.custom]` of
pyproject.toml, such as "https://github.com/OWNER/nightrook". It becomes `project.urls`, and
pictures and links in the README get absolute addresses that point to the tag of the release. While
it is empty, the package has no addresses, and its README has no pictures.
"""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_PICTURE = re.compile(r"<picture>.*?</picture>\n+", re.DOTALL)
_PICTURE_PATH = re.compile(r'\b(srcset|src)="(?!https?:)([^"]+)"')
_LINK_PATH = re.compile(r"\]\((?!https?:|#)([^)]+)\)")


class PackageMetadata(MetadataHookInterface):
    """Fills in the fields that pyproject.toml lists as dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the addresses of the project and the text of its README."""
        repository = self.config.get("repository", "")
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["urls"] = urls(repository)
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": absolute(readme, repository, metadata["version"]),
        }


def urls(repository: str) -> dict[str, str]:
    """The addresses that an index shows, none if the repository's address is not set."""
    if not repository:
        return {}
    root = repository.rstrip("/")
    return {
        "Repository": root,
        "Documentation": f"{root}/tree/main/docs",
        "Changelog": f"{root}/blob/main/CHANGELOG.md",
        "Issues": f"{root}/issues",
    }


def absolute(readme: str, repository: str, version: str) -> str:
    """The README with absolute addresses, or without pictures if the address is not set."""
    if not repository:
        return _PICTURE.sub("", readme)
    root = repository.rstrip("/")
    pictures = _PICTURE_PATH.sub(rf'\1="{root}/raw/v{version}/\2"', readme)
    return _LINK_PATH.sub(rf"]({root}/blob/v{version}/\1)", pictures)
