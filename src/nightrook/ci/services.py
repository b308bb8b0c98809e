"""Finds out which CI service runs this process."""

from collections.abc import Callable, Mapping

from nightrook.ci.buildkite import Buildkite
from nightrook.ci.github import GitHub
from nightrook.ci.gitlab import GitLab
from nightrook.ci.service import Service

_SERVICES: Mapping[str, Callable[[Mapping[str, str]], Service]] = {
    "GITHUB_ACTIONS": GitHub,
    "GITLAB_CI": GitLab,
    "BUILDKITE": Buildkite,
}


def service_of(environ: Mapping[str, str]) -> Service | None:
    """The service that an environment belongs to; None if it is none of those that we know."""
    for variable, service in _SERVICES.items():
        if environ.get(variable) == "true":
            return service(environ)
    return None
