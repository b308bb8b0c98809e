"""Which value applies, where it comes from, and what is said of a wrong one."""

import re
from pathlib import Path

import pytest

from rookery.config.files import Surroundings
from rookery.config.load import Config, load
from rookery.model.errors import ConfigError


class Place:
    """A user with a config folder, and a project below home."""

    def __init__(self, folder: Path) -> None:
        self.home = folder
        self.project = folder / "project"
        self.config = folder / "config"
        self.project.mkdir()
        self.config.mkdir()
        self.mine = self.config / "rookery.toml"
        self.shared = self.project / "rookery.toml"

    def load(self, profile: str | None = None, **variables: str) -> Config:
        around = Surroundings(
            cwd=self.project, home=self.home, user_folder=self.config, environment=variables
        )
        return load(around, profile)

    def refuses(self, file: Path, text: str, words: str, **variables: str) -> None:
        """See that a text is refused with these words, from the line on."""
        file.write_text(text)
        with pytest.raises(ConfigError, match=re.escape(f"{file}:{words}")):
            self.load(**variables)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def of(config: Config, name: str) -> tuple[object, str]:
    found = config.values[name]
    return found.value, found.place


def test_without_files_and_variables_nothing_is_set(place: Place) -> None:
    config = place.load()
    assert (config.values, config.agents, config.files) == ({}, {}, ())


def test_a_value_tells_its_file_and_line(place: Place) -> None:
    place.mine.write_text('\n# mine\nmodel = "opus"\n')
    assert of(place.load(), "model") == ("opus", f"{place.mine}:3")


def test_the_projects_file_is_stronger_than_the_users(place: Place) -> None:
    place.mine.write_text("max_cost = 1\nmax_turns = 5\n")
    place.shared.write_text("max_cost = 2\n")
    config = place.load()
    assert of(config, "max_cost") == (2.0, f"{place.shared}:1")
    assert of(config, "max_turns") == (5, f"{place.mine}:2")
    assert config.files == (place.mine, place.shared)


def test_a_profile_is_stronger_than_any_file_without_it(place: Place) -> None:
    place.mine.write_text("[profile.ci]\nmax_cost = 3\n")
    place.shared.write_text("max_cost = 2\n")
    assert of(place.load(), "max_cost") == (2.0, f"{place.shared}:1")
    assert of(place.load("ci"), "max_cost") == (3.0, f"{place.mine}:2")
    assert place.load("ci").values["max_cost"].profile == "ci"


def test_the_projects_profile_is_stronger_than_the_users(place: Place) -> None:
    place.mine.write_text("[profile.ci]\nmax_cost = 3\nmax_turns = 9\n")
    place.shared.write_text("[profile.ci]\nmax_cost = 4\n")
    config = place.load("ci")
    assert of(config, "max_cost") == (4.0, f"{place.shared}:2")
    assert of(config, "max_turns") == (9, f"{place.mine}:3")


def test_the_environment_is_stronger_than_any_file_and_profile(place: Place) -> None:
    place.shared.write_text("max_cost = 2\n[profile.ci]\nmax_cost = 3\n")
    assert of(place.load("ci", ROOKERY_MAX_COST="5"), "max_cost") == (5.0, "ROOKERY_MAX_COST")


def test_the_environment_can_choose_the_profile_and_a_flag_another(place: Place) -> None:
    place.shared.write_text("[profile.ci]\nmax_cost = 3\n[profile.night]\nmax_cost = 9\n")
    config = place.load(ROOKERY_PROFILE="ci")
    assert (config.profile, config.profiles) == ("ci", ("ci", "night"))
    assert of(config, "max_cost") == (3.0, f"{place.shared}:2")
    assert of(place.load("night", ROOKERY_PROFILE="ci"), "max_cost")[0] == 9.0


def test_an_empty_variable_is_none(place: Place) -> None:
    place.shared.write_text("max_cost = 2\n")
    config = place.load(ROOKERY_MAX_COST="", ROOKERY_PROFILE="")
    assert of(config, "max_cost")[0] == 2.0


def test_variables_of_ours_that_are_no_settings_and_those_of_others_are_left_alone(
    place: Place,
) -> None:
    names = ("HOME", "RUN", "RUN_DIR", "SCRIPT", "TEST_CLAUDE")
    assert place.load(**{f"ROOKERY_{name}": "x" for name in names}).values == {}


def test_a_users_file_that_is_also_found_upwards_is_the_users(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.mine.write_text('permission = "all"\n')
    around = Surroundings(
        cwd=place.config, home=place.home, user_folder=place.config, environment={}
    )
    config = load(around)
    assert config.files == (place.mine,)
    assert of(config, "permission") == ("all", f"{place.mine}:1")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("\nmax_costs = 2\n", "2: 'max_costs' is not a setting; did you mean 'max_cost'?"),
        ("max-cost = 2\n", "1: 'max-cost' is not a setting; did you mean 'max_cost'?"),
        ("[profiles.ci]\n", "1: 'profiles' is not a setting; did you mean 'profile'?"),
        ("[agent.x]\n", '1: agent takes a name, not {"x": {}}'),
        ("nonsense = 1\n", "1: 'nonsense' is not a setting; `rook config --help` lists them"),
        (
            "[profile.ci]\n\nverbos = true\n",
            "3: 'verbos' is not a setting; did you mean 'verbose'?",
        ),
        ('max_cost = "two"\n', '1: max_cost takes a number of dollars, not "two"'),
        ("quiet = 1\n", "1: quiet takes true or false, not 1"),
        ("timeout = 0\n", "1: timeout takes a time such as 90s, 5m or 2h, not 0"),
        ("profile = 1\n", "1: profile holds tables: write [profile.NAME]"),
        ("[profile]\nci = 1\n", "2: 'ci' is not a table: put it in a [profile.NAME]"),
        ('[profile."c i"]\n', "1: 'c i' cannot be a name"),
        ('agent = "cluade"\n', "1: no agent named \"cluade\"; did you mean 'claude'?"),
    ],
)
def test_a_wrong_key_or_value_names_the_line_and_the_nearest_right_one(
    place: Place, text: str, words: str
) -> None:
    place.refuses(place.shared, text, words)


def test_a_wrong_word_of_a_choice_names_the_nearest(place: Place) -> None:
    place.shared.write_text('permission = "edti"\n')
    with pytest.raises(ConfigError, match=r"1: permission takes one of .*; did you mean 'edit'\?"):
        place.load()


def test_a_profile_that_is_not_used_must_be_right_too(place: Place) -> None:
    place.refuses(place.shared, "[profile.ci]\nmax_cost = 'x'\n", "2: max_cost takes")


def test_an_unknown_profile_names_the_nearest_or_those_there_are(place: Place) -> None:
    with pytest.raises(
        ConfigError, match="--profile: there is no profile 'ci'; there are none yet"
    ):
        place.load("ci")
    place.shared.write_text("[profile.nightly]\n")
    with pytest.raises(ConfigError, match="did you mean 'nightly'"):
        place.load("nigthly")
    with pytest.raises(ConfigError, match=r"ROOKERY_PROFILE: .* 'ci'; known: nightly"):
        place.load(ROOKERY_PROFILE="ci")


def test_a_variable_that_is_nearly_a_setting_is_told(place: Place) -> None:
    words = "ROOKERY_MAXCOST: is not a setting; did you mean ROOKERY_MAX_COST?"
    with pytest.raises(ConfigError, match=re.escape(words)):
        place.load(ROOKERY_MAXCOST="2")


def test_a_wrong_value_of_a_variable_is_told(place: Place) -> None:
    with pytest.raises(ConfigError, match=r'ROOKERY_MAX_TURNS: max_turns takes .*, not "few"'):
        place.load(ROOKERY_MAX_TURNS="few")


_WORK = '[agents.work]\nspeaks = "claude"\ncommand = ["/opt/wrapper", "--flag"]\n'


def test_an_agent_of_ones_own_is_a_command_that_speaks_like_a_known_one(place: Place) -> None:
    place.mine.write_text(f'agent = "work"\n{_WORK}')
    config = place.load()
    own = config.agents["work"]
    assert (own.speaks, own.command, own.place) == (
        "claude",
        ("/opt/wrapper", "--flag"),
        f"{place.mine}:2",
    )
    assert of(config, "agent") == ("work", f"{place.mine}:1")


@pytest.mark.parametrize(
    ("word", "meant"),
    [("./wrapper", "{project}/wrapper"), ("wrapper", "wrapper"), ("/opt/w", "/opt/w")],
)
def test_a_command_with_a_slash_is_meant_from_the_folder_of_its_file(
    place: Place, word: str, meant: str
) -> None:
    place.shared.write_text(f'[agents.work]\nspeaks = "claude"\ncommand = ["{word}"]\n')
    assert place.load().agents["work"].command == (meant.format(project=place.project),)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[agents.x]\nspeaks = "claud"\ncommand = ["x"]\n', "2: speaks takes one of "),
        ("[agents.x]\nspeaks = ['claude']\ncommand = ['x']\n", "2: speaks takes one of "),
        ('[agents.x]\nspeaks = "claude"\ncommand = "x"\n', "3: command takes a list of words"),
        ('[agents.x]\nspeaks = "claude"\ncommand = []\n', "3: command takes a list of words"),
        ('[agents.x]\nspeaks = "claude"\ncommand = [""]\n', "3: command takes a list of words"),
        ('[agents.x]\nspeaks = "claude"\n', "1: agent 'x' needs a 'command'"),
        ('[agents.x]\ncommand = ["x"]\n', "1: agent 'x' needs a 'speaks'"),
        (
            '[agents.x]\nspeaks = "claude"\ncommand = ["x"]\ncomand = 1\n',
            "4: 'comand' is not a key of an agent; did you mean 'command'?",
        ),
        (
            '[agents.x]\nspeaks = "claude"\ncommand = ["x"]\nmax_cost = 1\n',
            "4: 'max_cost' is not a key of an agent; put settings before the first [table]",
        ),
        ("[agents.claude]\n", "1: rook has an agent 'claude' already: choose another name"),
        ("[agents]\nx = 1\n", "2: 'x' is not a table: put it in a [agents.NAME]"),
    ],
)
def test_an_agent_of_ones_own_that_is_wrong_is_told_with_its_line(
    place: Place, text: str, words: str
) -> None:
    place.refuses(place.shared, text, words)


def test_a_project_cannot_choose_its_own_command_for_the_user(place: Place) -> None:
    place.refuses(place.shared, f'agent = "work"\n{_WORK}', "1: agent 'work' is a command of this")
    place.shared.write_text(_WORK)
    assert of(place.load(ROOKERY_AGENT="work"), "agent") == ("work", "ROOKERY_AGENT")
    place.mine.write_text('agent = "work"\n')
    assert of(place.load(), "agent") == ("work", f"{place.mine}:1")


def test_a_project_cannot_take_the_place_of_a_command_of_the_user(place: Place) -> None:
    place.mine.write_text(_WORK)
    place.shared.write_text('[agents.work]\nspeaks = "claude"\ncommand = ["/tmp/other"]\n')
    assert place.load().agents["work"].command == ("/opt/wrapper", "--flag")


@pytest.mark.parametrize("head", ["", "[profile.ci]\n"])
def test_a_project_cannot_permit_everything_on_the_users_behalf(place: Place, head: str) -> None:
    line = head.count("\n") + 1
    place.refuses(
        place.shared, f'{head}permission = "all"\n', f"{line}: a project's settings cannot"
    )
    place.shared.unlink()
    place.mine.write_text('permission = "all"\n')
    assert of(place.load(), "permission")[0] == "all"
