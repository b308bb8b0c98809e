"""What reports are asked for: keys, projects by the end of their paths, models."""

import os
from pathlib import Path

import pytest

from nightrook.archive.report.query import KEYS, keys_of, matching_models, matching_projects
from nightrook.model.errors import OptionError


def test_keys_are_read_from_one_text_or_several() -> None:
    assert keys_of("day,model") == keys_of(["day", "model"]) == ("day", "model")
    assert keys_of(" day , day ,agent") == ("day", "agent")
    assert keys_of(",".join(KEYS)) == KEYS


@pytest.mark.parametrize("words", ["modle", "day,", "", "day;model", [], ["day", 7]])
def test_an_unknown_key_is_refused_with_those_there_are(words: str) -> None:
    with pytest.raises(OptionError, match="by takes words out of hour, day, week, month, agent"):
        keys_of(words)


def test_a_typo_is_answered_with_the_nearest_key() -> None:
    with pytest.raises(OptionError, match=r"did you mean model\?"):
        keys_of("day,modle")


def test_a_project_is_chosen_by_its_path_or_the_end_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.chdir(tmp_path)
    app, other = "/home/me/work/app", "/home/me/work/app2"
    windows, here = "C:\\work\\app", os.path.abspath(tmp_path)
    every = [app, other, windows, here, "/srv/myapp"]
    assert matching_projects("app", every) == [app, windows]
    assert matching_projects("work/app/", every) == [app]
    assert matching_projects("~/work/app", every) == [app]
    assert matching_projects(app + "/", every) == [app]
    assert matching_projects(windows, every) == [windows]
    assert matching_projects(".", every) == [here]
    assert matching_projects("/", ["/", app]) == ["/"]
    assert matching_projects("ap", every) == []


def test_a_model_is_chosen_by_its_name_in_which_a_star_is_anything() -> None:
    every = ["gpt-5", "gpt-5.5", "gpt-5-mini", "x[1]", "x?"]
    assert matching_models("gpt-5", every) == ["gpt-5"]
    assert matching_models("gpt-5*", every) == ["gpt-5", "gpt-5.5", "gpt-5-mini"]
    assert matching_models("x[1]", every) == ["x[1]"]
    assert matching_models("x?", every) == ["x?"]
