"""Which CI service runs this process."""

from nightrook.ci.buildkite import Buildkite
from nightrook.ci.github import GitHub
from nightrook.ci.gitlab import GitLab
from nightrook.ci.services import service_of


def test_each_service_is_known_by_its_variable() -> None:
    assert isinstance(service_of({"GITHUB_ACTIONS": "true"}), GitHub)
    assert isinstance(service_of({"GITLAB_CI": "true"}), GitLab)
    assert isinstance(service_of({"BUILDKITE": "true", "PATH": ""}), Buildkite)
    assert service_of({"CI": "true", "GITHUB_ACTIONS": "false"}) is None
