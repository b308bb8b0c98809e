"""Which CI service runs this process."""

from rookery.ci.buildkite import Buildkite
from rookery.ci.github import GitHub
from rookery.ci.gitlab import GitLab
from rookery.ci.services import service_of


def test_each_service_is_known_by_its_variable() -> None:
    assert isinstance(service_of({"GITHUB_ACTIONS": "true"}), GitHub)
    assert isinstance(service_of({"GITLAB_CI": "true"}), GitLab)
    assert isinstance(service_of({"BUILDKITE": "true", "PATH": ""}), Buildkite)
    assert service_of({"CI": "true", "GITHUB_ACTIONS": "false"}) is None
