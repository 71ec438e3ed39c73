"""Lines of the shell that run a command somewhere in them."""

from __future__ import annotations

import shlex

from hypothesis import strategies as st

_AROUND = [
    "{}",
    "ls && {}",
    "{} | head",
    "true; {} &",
    "cat x |\n{}",
    "( {} )",
    "{{ {}; }}",
    "if {}; then ls; fi",
    "if true; then {}; else ls; fi",
    "for i in 1 2; do {}; done",
    "while {}; do break; done",
    "case x in x) {};; esac",
    "! {}",
    "time {}",
    "X=1 {}",
    "echo $( {})",
    'echo "a $( {}) b"',
    "echo ${{x:-$( {})}}",
    "echo `{}`",
    "cat <({})",
    "x=$( {})",
    "a=(1 $( {}))",
    "cat <<EOF\n$( {})\nEOF",
    "echo $(( $( {}) + 1 ))",
    "[[ -n $( {}) ]]",
    "ls > /dev/null; {} 2>&1",
    "# a comment\n{}",
    "echo 'a;b' \"c|d\" \\; ; {}",
    "timeout 60 {}",
    "nice -n 5 nohup {}",
    "env A=b {}",
    "command {}",
    "exec {}",
]
_QUOTED = ["bash -c {}", "sh -ec {}", "eval {}", "bash -lc {} name", "trap {} EXIT", "bash <<< {}"]
_ONE_COMMAND = ("! {}", "time {}", "X=1 {}", "timeout", "nice", "env", "command", "exec", "`")


@st.composite
def hidden(draw: st.DrawFn, command: str) -> str:
    """``command`` in up to five layers of other things."""
    text, is_simple = command, True
    for _ in range(draw(st.integers(0, 5))):
        layer = draw(st.sampled_from(_AROUND + _QUOTED))
        if layer in _QUOTED:
            text, is_simple = layer.format(shlex.quote(text)), True
        elif "`" in layer and "`" in text:
            # They would have to be escaped.
            continue
        elif is_simple or not layer.startswith(_ONE_COMMAND):
            # A here-document ends with a line of its own, so nothing goes behind it.
            text = layer.format(f"{text}\n" if "<<EOF" in text else text)
            is_simple = False
    return text
