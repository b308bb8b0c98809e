"""The list of CI services: which of them runs this process, and what writes for it."""

from nightrook.ci.buildkite import Buildkite
from nightrook.ci.github import GitHub
from nightrook.ci.gitlab import GitLab
from nightrook.ci.services import services_of, writer_of


def test_each_service_is_known_by_its_variable() -> None:
    assert isinstance(writer_of({"GITHUB_ACTIONS": "true"}), GitHub)
    assert isinstance(writer_of({"GITLAB_CI": "true"}), GitLab)
    assert isinstance(writer_of({"BUILDKITE": "true", "PATH": ""}), Buildkite)
    assert writer_of({"CI": "true", "GITHUB_ACTIONS": "false"}) is None


def test_a_job_belongs_to_every_service_whose_variable_it_has() -> None:
    def found(environ: dict[str, str]) -> list[str]:
        return [service.variable for service in services_of(environ)]

    assert found({"CI": "true", "GITLAB_CI": "true"}) == ["GITLAB_CI", "CI"]
    assert found({"CI": "woodpecker", "TF_BUILD": "True"}) == ["TF_BUILD", "CI"]
    assert found({"CI": "false", "TRAVIS": "0", "JENKINS_URL": "", "PATH": "/bin"}) == []
