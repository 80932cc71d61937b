"""Ways to run a denied command that its text does not show at first sight: each was once let through."""

import pytest

from greenroom.link.policy_facts.call_request import CallRequest, LineageEntry
from greenroom.link.profile_definition import ProfileDefinition
from greenroom.rules.policy.judge import judge
from greenroom.rules.policy.model import Decision, Rule
from tests.rules.policy.shelf import NOW, Shelf

DENIED = Rule(decision="deny", commands=["touch **"])


def decide(command: str, rule: Rule = DENIED) -> Decision:
    """What is said where nothing but the rule stands in the way."""
    shelf = Shelf(rule, free=ProfileDefinition(driver="", approvals="never"))
    wanted = CallRequest(
        tool="Bash", arguments={"command": command}, directory="/w/p", lineage=[LineageEntry(profile="free")]
    )
    return judge(shelf, wanted, NOW).decision


@pytest.mark.parametrize(
    "command",
    [
        "env </dev/null touch x",
        "nice 2>/dev/null touch x",
        "nice >&2 touch x",
        "nice <<A touch x\nA",
        "echo $(nice >/dev/null touch x)",
        "nice </dev/null >/dev/null touch 2>/dev/null x",
        "bash -eo pipefail -c 'touch x'",
        "bash -oc pipefail 'touch x'",
        "bash -euxo pipefail -c 'touch x'",
        "eval -- touch x",
        "xargs --replace touch x < list",
    ],
)
def test_a_denied_command_is_found_behind_redirections_and_options(command: str) -> None:
    assert decide(command) == "deny"


@pytest.mark.parametrize(
    "command",
    [
        "sh 0< script",
        "sh 3</dev/null 0<script",
        "cat script | sh /dev/stdin",
        "cat script | bash -s x",
        "! ! touch x",
        "{ ls; } >/dev/null touch x",
        "cat list | xargs env",
        "cat list | xargs timeout 5",
        "xargs -I X sh -c X < list",
        "M=X; xargs -I $M X y < list",
        "find . -name 'touch*' -exec sh -c '{}' ';'",
        "env -S 'touch\\_x'",
        "/lib64/ld-linux-x86-64.so.2 /usr/bin/$T x",
    ],
)
def test_a_command_that_comes_from_elsewhere_asks(command: str) -> None:
    assert decide(command) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "x='a[$(touch x)]'; echo $((x))",
        "read x < list; echo ${y:x:1}",
        "x='$(touch x)'; echo ${x@P}",
        "x='a[$(touch x)]'; echo ${!x}",
        "x='a[$(touch x)]'; test -v $x",
        "x='a[$(touch x)]'; printf -v $x y",
        "x='a[$(touch x)]'; read $x < list",
        "x='a[$(touch x)]'; typeset $x=1",
        "declare -i y='a[$(touch x)]'",
        "mapfile -C 'touch x' -c 1 < list",
        "compgen -C 'touch x'",
        "RANDOM='a[$(touch x)]'",
        "for SECONDS in 'a[$(touch x)]'; do ls; done",
        "read RANDOM < list",
        "export RANDOM='a[$(touch x)]'",
        "set -x; PS4='$(touch x)'; ls",
        "printf %n PATH; ls",
    ],
)
def test_what_a_shell_evaluates_asks(command: str) -> None:
    assert decide(command) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "BASH_ENV=script bash -c ls",
        "PATH=./bin ls",
        "export PATH=./bin; ls",
        "env PATH=./bin ls",
        "GIT_SSH_COMMAND='touch x' git ls-remote ssh://a/b",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0='!touch x' git x",
        "EDITOR='touch x' git commit",
        "LESSOPEN='|touch x' less a",
        "NODE_OPTIONS='--require ./a.js' node b.js",
        "TAR_OPTIONS='--checkpoint-action=exec=./a' tar cf b c",
        """awk 'BEGIN{system("touch x")}'""",
        """awk 'BEGIN{print 1|"touch x"}'""",
        "sed '1e touch x' a",
        "sed 's/1/touch x/e' a",
        "sed 's/1/touch x/ge;p' a",
        "sed '1etouch x' a",
        "sed -n '-ee touch x' a",
        "sed 's/1/touch x/e#c' a",
        "sed 's/[/]/b/e' a",
        "sed p a --expression='1e touch x'",
        "sort --co='touch x' a",
        "install --strip-='touch x' a b",
        "tar cf a --new-='touch x' b",
        "git ls-remote --upl='touch x' a",
        "git push --rec='touch x'",
        "git grep --ope='touch x' a",
        "git rebase --ex 'touch x' a",
        "git clone --conf core.fsmonitor='touch x' a b",
        "git archive --remote='ext::touch x' HEAD",
        "less --lesskey-content='#env' a",
        "wget -e use_askpass='touch x' a",
        "ssh -I ./a.so b",
        """perl -ne 'system("touch x")' a""",
        """python3 -c'import os; os.system("touch x")'""",
        """node -p 'require("child_process").execSync("touch x")'""",
        "make --eval='$(shell touch x)'",
        "git -c alias.x='!touch x' x",
        "git grep -O'touch x' one",
        "git fetch --upload-pack='touch x' .",
        "git rebase -x 'touch x' HEAD",
        "tar xf a --to-command='touch x'",
        "tar cf a -I 'touch x' b",
        "split --filter='touch x' a",
        "zip a b -T -TT 'touch x'",
        "rg --pre ./a b",
        "vim -es -c '!touch x' -c q",
        "ssh -oProxyCommand='touch x' a",
        "gdb -batch -ex '!touch x'",
        "npm exec -c 'touch x'",
        "sqlite3 a '.shell touch x'",
    ],
)
def test_code_in_the_words_of_a_program_or_in_a_variable_asks(command: str) -> None:
    assert decide(command) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "ssh-agent touch x",
        "choom -n 0 -- touch x",
        "cmake -E time touch x",
        "fd -x touch x",
        "fd -xtouch x",
        "pee 'touch x'",
        "socat - EXEC:'touch x'",
        "somebody --run=/bin/touch x",
        "timeout 5 somebody touch x",
    ],
)
def test_a_denied_command_among_the_words_of_an_unknown_program_asks(command: str) -> None:
    assert decide(command) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "ls",
        "cp touch x",
        "cat touch",
        "somebody --touching x",
        "sed 's/[[:space:]]*$//; /error/d' a",
        "git push --recurse-submodules=check",
        "git status",
        "git commit -m 'Fix the lock'",
        "CI=1 npm test",
        "export DEBUG=1; pytest -q",
        "awk '{print $1}' a",
        "sed -n '1,5p' a",
        "sed 's/one/two/g' a",
        "printf '%s\\n' $x",
        "test -n $x && ls",
        "tar xzf a.tgz",
        "python3 script.py",
        "ls 2>&1 | head",
        "echo ${x:-none}",
        "find . -name '*.py' -exec wc -l {} +",
        "bash -o pipefail -c 'ls | wc'",
    ],
)
def test_what_holds_no_denied_command_runs(command: str) -> None:
    assert decide(command) == "allow"


@pytest.mark.parametrize("command", ["cp a.txt b", "dd if=a.txt", "curl -Ta.txt b", "curl --data=@a.txt b"])
def test_a_denied_path_is_found_in_words_that_do_not_look_like_one(command: str) -> None:
    assert decide(command, Rule(decision="deny", paths=["a.txt"])) == "ask"


@pytest.mark.parametrize("command", ["$(cat list)", "cat list | sh", "git -c alias.x='!touch x' x"])
def test_a_condition_that_denies_asks_where_the_commands_are_not_known(command: str) -> None:
    assert decide(command, Rule(decision="deny", when='commands.exists(c, c[0] == "touch")')) == "ask"
