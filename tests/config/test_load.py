"""Which value applies, where it comes from, and what is said of a wrong one."""

import re
from pathlib import Path

import pytest

from nightrook.config import trust
from nightrook.config.files import Surroundings
from nightrook.config.load import Config, Review, load, review
from nightrook.model.errors import ConfigError


class Place:
    """A user with a config folder, and a project below home."""

    def __init__(self, folder: Path) -> None:
        self.home = folder
        self.project = folder / "project"
        self.config = folder / "config"
        self.project.mkdir()
        self.config.mkdir()
        self.mine = self.config / "rook.toml"
        self.shared = self.project / "rook.toml"

    def around(self, **variables: str) -> Surroundings:
        return Surroundings(
            cwd=self.project, home=self.home, user_folder=self.config, environment=variables
        )

    def load(self, profile: str | None = None, **variables: str) -> Config:
        return load(self.around(**variables), profile)

    def trust(self, text: str) -> None:
        """Write the project's file, and trust it."""
        self.shared.write_text(text)
        around = self.around()
        file = around.files()[1]
        assert file is not None
        trust.add(around.trusted, file)

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
    place.trust("max_cost = 2\n")
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
    place.trust("[profile.ci]\nmax_cost = 4\n")
    config = place.load("ci")
    assert of(config, "max_cost") == (4.0, f"{place.shared}:2")
    assert of(config, "max_turns") == (9, f"{place.mine}:3")


def test_the_environment_is_stronger_than_any_file_and_profile(place: Place) -> None:
    place.shared.write_text("max_cost = 2\n[profile.ci]\nmax_cost = 3\n")
    assert of(place.load("ci", ROOK_MAX_COST="5"), "max_cost") == (5.0, "ROOK_MAX_COST")


def test_the_environment_can_choose_the_profile_and_a_flag_another(place: Place) -> None:
    place.shared.write_text("[profile.ci]\nmax_cost = 3\n[profile.night]\nmax_cost = 9\n")
    config = place.load(ROOK_PROFILE="ci")
    assert (config.profile, config.profiles) == ("ci", ("ci", "night"))
    assert of(config, "max_cost") == (3.0, f"{place.shared}:2")
    assert of(place.load("night", ROOK_PROFILE="ci"), "max_cost")[0] == 9.0


def test_an_empty_variable_is_none(place: Place) -> None:
    place.shared.write_text("max_cost = 2\n")
    config = place.load(ROOK_MAX_COST="", ROOK_PROFILE="")
    assert of(config, "max_cost")[0] == 2.0


def test_variables_of_ours_that_are_no_settings_and_those_of_others_are_left_alone(
    place: Place,
) -> None:
    names = ("HOME", "RUN", "RUN_DIR", "SCRIPT", "TEST_CLAUDE")
    assert place.load(**{f"ROOK_{name}": "x" for name in names}).values == {}


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
    with pytest.raises(ConfigError, match=r"ROOK_PROFILE: .* 'ci'; known: nightly"):
        place.load(ROOK_PROFILE="ci")


def test_a_variable_that_is_nearly_a_setting_is_told(place: Place) -> None:
    words = "ROOK_MAXCOST: is not a setting; did you mean ROOK_MAX_COST?"
    with pytest.raises(ConfigError, match=re.escape(words)):
        place.load(ROOK_MAXCOST="2")


def test_a_wrong_value_of_a_variable_is_told(place: Place) -> None:
    with pytest.raises(ConfigError, match=r'ROOK_MAX_TURNS: max_turns takes .*, not "few"'):
        place.load(ROOK_MAX_TURNS="few")


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
    place.trust(f'[agents.work]\nspeaks = "claude"\ncommand = ["{word}"]\n')
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


def test_a_command_of_a_project_needs_trust_even_if_the_user_chooses_it(place: Place) -> None:
    words = "2: agent 'work' is a command of this project: review the file and run `rook trust`"
    text = f'agent = "work"\n{_WORK}'
    place.refuses(place.shared, text, words, ROOK_AGENT="work")
    config = place.load()
    assert (config.agents, [*config.ignored], [*config.ignored_agents]) == ({}, ["agent"], ["work"])
    place.mine.write_text('agent = "work"\n')
    place.refuses(place.shared, text, words)
    place.trust(text)
    assert of(place.load(ROOK_AGENT="work"), "agent") == ("work", "ROOK_AGENT")
    place.mine.unlink()
    assert of(place.load(), "agent") == ("work", f"{place.shared}:1")


_LOOSE = {
    "agent": '"codex"',
    "model": '"opus"',
    "permission": '"edit"',
    "allow": '["Read"]',
    "stream": "false",
    "allow_denials": "true",
    "quiet": "true",
    "no_text": "true",
}
"""A value of every setting that always loosens."""


def test_what_a_project_loosens_is_ignored_until_it_is_trusted(place: Place) -> None:
    text = "".join(f"{name} = {value}\n" for name, value in _LOOSE.items())
    place.shared.write_text(text)
    config = place.load()
    assert (config.values, [*config.ignored]) == ({}, [*_LOOSE])
    place.trust(text)
    config = place.load()
    assert ([*config.values], config.ignored) == ([*_LOOSE], {})
    assert all(found.loosens for found in config.values.values())


def test_trust_ends_when_the_file_changes_or_is_somewhere_else(place: Place) -> None:
    place.trust('model = "opus"\n')
    assert of(place.load(), "model")[0] == "opus"
    place.shared.write_text('model = "opus" # changed\n')
    assert place.load().values == {}
    place.shared.write_text('model = "opus"\n')
    assert of(place.load(), "model")[0] == "opus"
    other = place.home / "other"
    other.mkdir()
    (other / "rook.toml").write_text('model = "opus"\n')
    around = Surroundings(cwd=other, home=place.home, user_folder=place.config, environment={})
    assert load(around).values == {}


def test_a_project_may_tighten_without_trust(place: Place) -> None:
    place.mine.write_text(
        'max_cost = 2\nallow = ["Read", "Edit"]\nquiet = true\npermission = "all"\n'
    )
    place.shared.write_text('max_cost = 1\nallow = ["Edit"]\nquiet = false\npermission = "plan"\n')
    config = place.load()
    assert {name: found.value for name, found in config.values.items()} == {
        "max_cost": 1.0,
        "allow": ("Edit",),
        "quiet": False,
        "permission": "plan",
    }
    assert config.ignored == {}


@pytest.mark.parametrize("name", ["max_cost", "max_tokens", "max_turns", "timeout", "idle_timeout"])
def test_a_limit_of_a_project_is_compared_with_the_users(place: Place, name: str) -> None:
    place.mine.write_text(f"{name} = 20\n[profile.ci]\n{name} = 40\n")
    place.shared.write_text(f"{name} = 30\n")
    config = place.load()
    assert (config.values[name].value, config.ignored[name].value) == (20, 30)
    place.shared.write_text(f"[profile.ci]\n{name} = 30\n")
    assert place.load("ci").values[name].value == 30
    place.shared.write_text(f"[profile.ci]\n{name} = 50\n")
    assert place.load("ci").values[name].value == 40
    place.mine.unlink()
    place.shared.write_text(f"{name} = 30\n")
    assert place.load().values[name].value == 30  # a limit where there was none
    assert load(place.around(), None, {name: 10}).values == {}  # a command with a limit of its own


def test_a_stronger_source_of_the_user_hides_what_a_project_loosens(place: Place) -> None:
    place.shared.write_text('model = "opus"\n')
    config = place.load(ROOK_MODEL="haiku")
    assert (of(config, "model")[0], config.ignored) == ("haiku", {})


def test_a_review_lists_everything_that_needs_trust(place: Place) -> None:
    assert review(place.around()) is None
    place.mine.write_text("max_cost = 5\n[agents.mine]\nspeaks = 'claude'\ncommand = ['x']\n")
    text = (
        "max_cost = 4\nmax_turns = 2000\ntimeout = 9\nmodel = 'opus'\n"
        "[profile.ci]\nmax_cost = 6\nquiet = true\nverbose = true\n"
        f"{_WORK}[agents.mine]\nspeaks = 'claude'\ncommand = ['y']\n"
    )
    place.shared.write_text(text)
    found = review(place.around())
    assert isinstance(found, Review)
    settings = [(each.name, each.profile) for each in found.settings]
    assert settings == [
        ("max_turns", None),  # more than a loop has
        ("model", None),
        ("max_cost", "ci"),
        ("quiet", "ci"),
    ]
    assert ([each.name for each in found.agents], found.is_trusted) == (["work"], False)
    place.trust(text)
    found = review(place.around())
    assert found is not None
    assert found.is_trusted


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('model = "--yolo"\n', "1: model takes a name that doesn't begin with '-'"),
        ('agent = "-x"\n', "1: agent takes a name that doesn't begin with '-'"),
        (
            'allow = ["Read", "--settings", \'{"hooks":{}}\']\n',
            "1: allow takes a list of rules that don't begin with '-' (options for the agent go "
            "after --, or in args), not",
        ),
        (
            'allow = ["Read", "--dangerously-skip-permissions"]\n',
            "1: allow takes a list of rules that don't begin with '-'",
        ),
    ],
)
def test_a_value_that_begins_with_a_dash_is_refused_in_every_file(
    place: Place, text: str, words: str
) -> None:
    place.trust('model = "opus"\n')
    place.refuses(place.shared, text, words)
    place.shared.unlink()
    place.refuses(place.mine, text, words)


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


def test_a_table_holds_the_settings_that_begin_with_its_name(place: Place) -> None:
    place.mine.write_text('[archive]\nroots = ["/srv/laptop"]\n[prices]\nfile = "p.toml"\n')
    config = place.load()
    assert of(config, "archive_roots") == (("/srv/laptop",), f"{place.mine}:2")
    assert of(config, "prices_file") == ("p.toml", f"{place.mine}:4")


def test_a_wrong_key_of_such_a_table_gets_a_suggestion(place: Place) -> None:
    place.refuses(place.mine, '[prices]\nfiles = "x"', "2: 'files' is not a setting; did you mean")


@pytest.mark.parametrize("text", ['[prices]\nfile = "x"', '[profile.a]\nprices_file = "x"'])
def test_what_only_the_user_may_set_is_refused_elsewhere(place: Place, text: str) -> None:
    words = "2: prices_file cannot be set by a project or a profile"
    place.refuses(place.shared, text, words)
