"""Lines of the shell, taken apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemma_local.app.agent.run.command import CommandLine
from gemma_local.app.agent.run.command_line import LONGEST, parse
from gemma_local.app.agent.run.wrappers import understood
from tests.app.agent.run.nesting import hidden


def sure(line: CommandLine) -> list[str]:
    return sorted(command.text for command in line.commands if command.is_sure and command.words)


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("ls", ["ls"]),
        ("", []),
        ("  # rm x", []),
        ("ls # rm x\npwd", ["ls", "pwd"]),
        ("a && b || c; d & e | f |& g", ["a", "b", "c", "d", "e", "f", "g"]),
        ("'r'\"m\" \\-rf 'a b'", ["rm -rf a b"]),
        ("ls \\\n  -l", ["ls -l"]),
        ("if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]),
        ("for f in x y; do rm $f; done", ["rm $f"]),
        ("for ((i=0; i<3; i++)); do a; done", ["a"]),
        ("while ! a; do b; done < list", ["a", "b"]),
        ("case $x in a|b) c ;; (d) e;; *) f; esac; g", ["c", "e", "f", "g"]),
        ("case x in\n a)\n b\n ;;\nesac", ["b"]),
        ("(a; b) && { c; }", ["a", "b", "c"]),
        ("[[ -f a && b < c ]] && d", ["d"]),
        ("((i++)) && a", ["a"]),
        ("time -p a", ["a"]),
        ('echo $(a; b) `c` "$(d)" ${x:-$(e)}', ["a", "b", "c", "d", "e", None]),
        ("echo `a \\`b\\``", ["a `b`", "b", None]),
        ("diff <(a) >(b)", ["a", "b", None]),
        ("cat <<EOF\n$(a) 'x\nEOF\nb", ["a", "b", "cat"]),
        ("cat <<'EOF'\n$(a) 'x\nEOF\nb", ["b", "cat"]),
        ("cat <<-E && a\n\tx\n\tE\nb", ["a", "b", "cat"]),
        ("x=1 y=$(a) b", ["a", "b"]),
        ("x=(1 $(a)\n2 # c\n); b", ["a", "b"]),
        ("> f; 2>&1 a >g", ["a"]),
        ("echo $((1 + $(a)))", ["a", None]),
        ("echo 'if' && then_not", ["echo if", "then_not"]),
        ("for x do a; done", ["a"]),
        ("for x { a; }", ["a"]),
        ("for x in a do b; do c; done", ["c"]),
        ("cat <<E\nfirst\\\nE\nE\na", ["a", "cat"]),
        ("cat <<E\nE\\\n\na\nE", ["E", "a", "cat"]),
        ("cat <<E\n$\\\n(a)\nE", ["a", "cat"]),
        ("cat <<'E'\nx\\\nE\na", ["a", "cat"]),
        ('echo "`echo "x\\"; a; echo \\"y"`"', ["a", "echo x", "echo y", None]),
        ("echo $(b &# )'\na\n) # '", ["a", "b", None]),
        ("echo ${x//'a'/b} ${y:-'c d'}", [None]),
        ("a\\\nb c", ["ab c"]),
        ('$"a" b', ["a b"]),
        ('echo $"x$(a)"', ["a", None]),
        ('echo $(a "x\\"y)"; b)', ['a x"y)', "b", None]),
        ("echo ${x:-\\}} ; a", ["a", None]),
        ('echo ${x:-"$(a)}"} ; b', ["a", "b", None]),
        ("echo $'x\\'; y'; a", ["a", None]),
        ("((a); (b))", ["a", "b"]),
        ("case x\nin a) b;; esac", ["b"]),
    ],
)
def test_commands(text: str, commands: list[str | None]) -> None:
    line = parse(text)
    found = sure(line)
    if None in commands:
        # And the one that they are arguments of.
        assert set(commands) - {None} <= set(found)
        assert len(found) == len(commands)
    else:
        assert found == commands
    assert line.unclear == ()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("echo 'a", "quote"),
        ('echo "a', "quote"),
        ("echo $'a", "quote"),
        ("echo `a", "backquote"),
        ("echo $(a", "parenthesis"),
        ("echo ${a", "brace"),
        ("a )", "parenthesis too many"),
        ("(a", "not closed"),
        ("f() { a; }; f", "function"),
        ("function f { a; }", "function"),
        ("a (b)", "function"),
        ("a b (c)", "parenthesis"),
        ("case x in a) b;;", "not closed"),
        ("[[ a", "condition"),
        ("a >", "nowhere"),
        ("echo ${x@P}", "variable"),
        ("echo ${x:-'}'}; a; echo \\'", "quote in braces"),
        ("echo ${x:-'a}", "quote in braces"),
        ("cat <<$'E'\nx\nE\na", "end is not clear"),
        ('cat <<"a$b"\nx\na$b\na', "end is not clear"),
        ("cat <<E\nx", "not closed"),
        ("echo $(cat <<E\n) '\nE\na\n) # '", "not closed"),
        ('echo "$\\\n(a)"', "end of a line"),
        ("echo $[1<<2]\na\n2]", "square brackets"),
        ("a " + "x" * LONGEST, "too long"),
        ("$(" * 300 + ")" * 300, "deeply"),
        ("(" * 3000 + ")" * 3000, ""),
        ("( " * 70 + "a" + " )" * 70, "deeply"),
        ("a;" * 400, "too many"),
        ('echo $("a', "quote"),
        ("x=(a; b)", "array"),
        ("a; esac; b", "esac outside"),
        ("function f() { a; }", "function"),
        ("for x in a & b; do c; done", "for that is strange"),
        ("case x a) b;; esac", "case that is strange"),
        ("case x in a b) c;; esac", "case that is strange"),
        ("[[ a ; b ]]", "condition"),
        ("a ( b", "strange place"),
    ],
)
def test_what_is_not_understood_is_said(text: str, what: str) -> None:
    assert what in " ".join(parse(text).unclear)


def test_redirections_and_variables() -> None:
    (command,) = parse('A=1 B=2 cmd x 2>"$y" >>z <in >/dev/null 2>&1 &>all {fd}>w <<<text').commands
    assert command.variables == ("A", "B")
    assert command.text == "cmd x"
    assert [(one.sign, one.target.text, one.writes) for one in command.redirections] == [
        (">", '"$y"', True),
        (">>", "z", True),
        ("<", "in", False),
        (">", "/dev/null", True),
        (">&", "1", False),
        ("&>", "all", True),
        (">", "w", True),
        ("<<<", "text", False),
    ]
    assert not command.redirections[0].target.is_known


@pytest.mark.parametrize(
    ("text", "computes"),
    [
        ("echo $((x))", True),
        ('echo "$((`cat f` + 1))"', True),
        ("echo $((1 + 2)) ${x:1:2} ${x: -1} ${x[0]} ${x[@]} ${#x[*]} ${!x@}", False),
        ("((i++))", True),
        ("for ((i = 0; i < 3; i++)); do a; done", True),
        ("cat <<E\n$((x))\nE", True),
        ("cat <<'E'\n$((x))\nE", False),
        ("echo '$((x))'", False),
        ("bash -c 'echo $((x))'", True),
        ("[[ $x -eq 1 ]]", True),
        ("[[ -v 'a[x]' ]]", True),
        ("[[ -f $x && $y == z ]]", False),
        ("echo ${!x}", True),
        ("echo ${y[x]}", True),
        ("echo ${y:x}", True),
        ("echo ${y:-x} ${y:=x} ${y#x}", False),
        ("y[x]=1", True),
        ("y[0]=1", False),
        ("y=([x]=1)", True),
        ("y=([0]=1 x)", False),
        ("a {y[x]}>/dev/null", True),
        ("a {y}>/dev/null", False),
        ("grep -n 'x[a-z]' f", False),
    ],
)
def test_arithmetic_may_run_what_variables_hold(text: str, *, computes: bool) -> None:
    assert understood(text).computes == computes


@pytest.mark.parametrize(
    "text", ["$x a", "${x} a", "`x` a", "{r,m} a", "r?m a", "$'rm' a", "r$y a"]
)
def test_a_program_may_be_unknown(text: str) -> None:
    assert parse(text).commands[-1].program == "" or parse(text).commands[0].program == ""


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("timeout -k 5 60 a b", ["a b"]),
        ("nice -n 5 nohup a b", ["a b"]),
        ("env -u X Y=1 a b", ["a b"]),
        ("command -p a", ["a"]),
        ("command -v a", ["command -v a"]),
        ("bash -lc 'a; b'", ["a", "b"]),
        ("bash -o pipefail -ec 'a | b'", ["a", "b"]),
        ("bash script.sh a", ["bash script.sh a"]),
        ("eval a '; b'", ["a", "b"]),
        ("trap 'a' EXIT", ["a"]),
        ("ls | xargs -n 1 -I{} a b", ["a b ...", "ls"]),
        (
            "find . -name x -exec a {} b \\; -exec c +",
            ["a ... b", "c", "find . -name x -exec a {} b ; -exec c +"],
        ),
        ("xargs -0n 1 a", ["a ..."]),
        ("xargs -0n1 a", ["a ..."]),
        ("timeout --foreground --signal=KILL -vk 5 60 a b", ["a b"]),
        ("nice --adjustment 5 a", ["a"]),
        ("env -iu X a", ["a"]),
        ("bash <<'E'\na\nE", ["a"]),
        ("sh <<< 'a; b'", ["a", "b"]),
        ("sh -c 'bash -c \"timeout 3 a\"'", ["a"]),
    ],
)
def test_commands_in_commands(text: str, inner: list[str]) -> None:
    line = understood(text)
    assert sure(line) == inner
    assert line.unclear == ()


@pytest.mark.parametrize(
    "text",
    ["curl x | sh", "a | bash -s", 'eval "$x"', "bash -c $x", "bash $OPTIONS", "trap $x EXIT"],
)
def test_commands_that_are_only_known_when_they_run(text: str) -> None:
    assert understood(text).unclear != ()


@given(st.text(max_size=200))
def test_any_text_can_be_looked_at(text: str) -> None:
    understood(text)


SIGNS = st.text(st.sampled_from("ab $`'\"\\(){}[]<>|&;\n#=-!*~cseif"), max_size=60)


@given(SIGNS)
def test_any_signs_can_be_looked_at(text: str) -> None:
    understood(text)


@given(hidden("innermost one"))
def test_a_command_is_found_wherever_it_is(text: str) -> None:
    line = understood(text)
    # A case in a substitution closes a parenthesis that it has not opened, and of two documents
    # with the same ending the outer one ends first: that is not read, but it is said.
    is_said = line.unclear and ("case" in text or text.count("<<EOF") > 1)
    assert is_said or any(command.text == "innermost one" for command in line.commands)
