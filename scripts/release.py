"""Guards a release and tags it; `make release` runs the checks and the build in between.

`ready` refuses a tree that must not be released: uncommitted changes, a version that already has a
tag, or one that the changelog does not describe. `tag` asks the same again and tags the commit.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def reasons_against(root: Path, version: str) -> list[str]:
    """Why the tree must not be released as this version; empty if it may."""
    reasons = []
    if changed := _git(root, "status", "--porcelain"):
        reasons.append(f"there are uncommitted changes:\n{changed}")
    if _git(root, "tag", "--list", f"v{version}"):
        reasons.append(f"the tag v{version} exists; raise the version")
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if not re.search(
        rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", changelog, re.MULTILINE
    ):
        reasons.append(f"CHANGELOG.md has no section `## [{version}] - YYYY-MM-DD`")
    return reasons


def tag(root: Path, version: str) -> None:
    """Tag the commit that is checked out."""
    _git(root, "tag", "--annotate", f"v{version}", "--message", f"Nightrook {version}")


def main() -> None:
    """Do what the command line says, `ready` or `tag`; exit with 1 if the tree is not ready."""
    from nightrook import __version__

    if reasons := reasons_against(ROOT, __version__):
        raise SystemExit("\n".join([f"not ready to release {__version__}:", *reasons]))
    if sys.argv[1:] == ["tag"]:
        tag(ROOT, __version__)
        print(f"tagged v{__version__}; to publish: git push origin v{__version__}, upload dist/*")


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=root, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout.rstrip()


if __name__ == "__main__":
    main()
