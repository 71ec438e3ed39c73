"""The command line's grammar: options, their ranges and the help text.

Nothing here may import more than argparse and constants: ``gemma-local --help`` goes through it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, Never, TypeAlias, TypeVar

from gemma_local.app.agent.consent import MODES
from gemma_local.app.argument_values import (
    draft_length,
    draft_lengths,
    kinds,
    one_of,
    real,
    some_text,
    thinking,
    whole,
)
from gemma_local.app.bench_prompts import KINDS
from gemma_local.app.errors import UsageError
from gemma_local.app.exit_codes import ExitCode
from gemma_local.app.options import (
    MOST_ALTERNATIVES,
    MOST_ATTEMPTS,
    AnswerOptions,
    BenchOptions,
    PairOptions,
    VerifyOptions,
)
from gemma_local.engine.messages import DRAFT_MAX

COMMANDS: Final = {
    "batch": "answer every line of a file, several at once",
    "bench": "measure decode and prefill speed at each draft length",
    "verify": "check that drafting changes nothing on this machine",
    "doctor": "look at this machine: what fits, how fast, and what is in the way",
    "sessions": "find, show, export and delete what was said",
    "models": "list, download, check and move models",
    "config": "show and describe the settings",
    "paths": "where everything is kept",
    "completions": "complete commands and options in the shell",
}
"""Commands by name, with what they do. The command line's first word decides."""

EXAMPLES: Final = """\
examples:
  gemma-local --model gemma.gguf
  gemma-local --model gemma.gguf -p "Explain this error" < build.log
  git diff | gemma-local --model gemma.gguf -p "Write a commit message" --temperature 0
  gemma-local --model gemma.gguf -p "Name three rivers" --output json
  gemma-local --model gemma.gguf --continue -p "And three lakes"
  gemma-local -p "Fix the failing test" --allow read,edit,run:pytest
"""


Options = TypeVar("Options", bound=PairOptions)
Fill: TypeAlias = Callable[[Options, Collection[str]], Options]
"""Fills in what the command line leaves open; hears which fields it gave."""


class Parser(argparse.ArgumentParser):
    """An argument parser that raises UsageError, in one sentence, instead of ending the process."""

    def __init__(self, prog: str, description: str, epilog: str = "") -> None:
        super().__init__(
            prog=prog,
            description=description,
            epilog=epilog,
            formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(
                prog, max_help_position=30
            ),
            usage=f"{prog} [options]",
            # What is not given is not set: the defaults are those of the options' fields.
            argument_default=argparse.SUPPRESS,
            # An abbreviation that works today is ambiguous after the next release.
            allow_abbrev=False,
        )

    def error(self, message: str) -> Never:
        """Called by argparse for whatever it cannot make sense of."""
        raise UsageError(f"{message.removeprefix('argument ')} (see {self.prog} --help)")


class _Version(argparse.Action):
    """``--version``; looks the version up only when it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, **more: Any) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help=more.get("help"))

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import PackageNotFoundError, version

        try:
            print(f"gemma-local {version('gemma-local')}")
        except PackageNotFoundError:
            print("gemma-local, not installed")
        parser.exit()


def _as_given(options: Options, _given: Collection[str]) -> Options:
    return options


def parse_answer(arguments: Sequence[str], fill: Fill[AnswerOptions] = _as_given) -> AnswerOptions:
    """Options of ``gemma-local`` without a command; ``fill`` adds what is not given. Raises
    UsageError, and what ``fill`` raises."""
    parser = answer_parser()
    given, rest = parse_given(parser, arguments)
    options = AnswerOptions(**given)
    if rest and rest[0] in COMMANDS:
        parser.error(f"{rest[0]} must come first: gemma-local {rest[0]} [options]")
    if rest and not rest[0].startswith("-"):
        parser.error(f"{rest[0]!r} is not an option; give the prompt with -p")
    refuse(parser, rest)
    if options.go_on and options.resume is not None:
        parser.error("--continue and --resume exclude each other; give one of them")
    if options.raw and (options.go_on or options.resume is not None):
        parser.error("--raw continues a text, not a conversation; leave one of the two out")
    works = options.allow or options.mode
    if options.raw and works:
        parser.error("--raw continues a text and uses no tools; leave --allow and --mode out")
    if options.best and (options.raw or options.mode == "plan"):
        parser.error("--best changes files; leave --raw and --mode plan out")
    if (options.judge or options.take) and not options.best:
        parser.error("--judge and --take are for attempts: say how many with --best N")
    if options.n > 1 and (options.go_on or options.resume is not None or works or options.best):
        parser.error(
            "--n gives several answers to one prompt; leave --continue, --resume, --allow, --mode "
            "and --best out"
        )
    if options.max_calls and options.prompt is not None and not (works or options.best):
        parser.error("--max-calls is for work with tools; say what they may do with --allow")
    if options.drafter == "none" and options.draft:
        parser.error("--draft needs a drafter; leave --drafter none out, or give --draft off")
    return fill(options, given)


def parse_bench(arguments: Sequence[str], fill: Fill[BenchOptions] = _as_given) -> BenchOptions:
    """Options of ``gemma-local bench``, as ``parse_answer``."""
    parser = bench_parser()
    given, rest = parse_given(parser, arguments)
    refuse(parser, rest)
    options = BenchOptions(**given)
    if options.kinds and options.raw_tokens:
        parser.error("--kinds and --raw-tokens exclude each other; give one of them")
    if options.simulate is not None and options.model is not None:
        parser.error("--simulate needs no --model; leave one of them out")
    return fill(options, given)


def parse_verify(arguments: Sequence[str], fill: Fill[VerifyOptions] = _as_given) -> VerifyOptions:
    """Options of ``gemma-local verify``, as ``parse_answer``."""
    parser = verify_parser()
    given, rest = parse_given(parser, arguments)
    refuse(parser, rest)
    return fill(VerifyOptions(**given), given)


def parse_given(parser: Parser, arguments: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """The options that were given, by the names of their fields, and the words that are none."""
    given, rest = parser.parse_known_args(arguments)
    return vars(given), rest


def refuse(parser: Parser, rest: Sequence[str]) -> None:
    """Raise UsageError if there are words that no option and no place takes."""
    if rest:
        what = "option" if rest[0].startswith("-") else "place for"
        parser.error(f"there is no {what} {rest[0]!r}")


def answer_parser() -> Parser:
    """The options of ``gemma-local``."""
    commands = "\n".join(f"  {name:13}{what}" for name, what in COMMANDS.items())
    codes = "\n".join(f"  {code.value:<13}{code.meaning}" for code in ExitCode)
    parser = Parser(
        "gemma-local",
        "Runs Gemma 4, or another GGUF chat model, on this machine. With a prompt it answers and "
        "ends;\nwithout one it opens a chat.",
        f"commands (gemma-local COMMAND --help):\n{commands}\n\n{EXAMPLES}\nexit status:\n{codes}",
    )
    parser.add_argument("--version", action=_Version, help="show the version and end")

    add = parser.add_argument_group("prompt and answer").add_argument
    add("-p", "--prompt", metavar="TEXT", help="answer this; standard input is added to it")
    add("--system", metavar="TEXT", help="instructions to the model, before the conversation")
    add("--raw", action="store_true", help="continue the prompt as it stands, without a template")
    add(
        "--think",
        metavar="HOW",
        type=thinking,
        help="let the model think first: off (default), on, or the most tokens that it may think",
    )
    add(
        "--output",
        metavar="FORMAT",
        type=one_of("text", "json", "stream-json"),
        help="text (default), json (one object at the end) or stream-json (an object a line)",
    )
    add(
        "--n",
        metavar="N",
        type=whole(1, MOST_ALTERNATIVES),
        help="so many answers to the prompt, made at once and not saved (default 1)",
    )
    add("--max-tokens", metavar="N", type=whole(1, 1 << 20), help="stop after this many tokens")
    add(
        "--stop",
        metavar="TEXT",
        type=some_text,
        action="append",
        help="stop before this text; may be given several times",
    )
    add("--stats", action="store_true", help="show speed and acceptance on standard error")

    add = parser.add_argument_group("conversations").add_argument
    add(
        "--continue",
        dest="go_on",
        action="store_true",
        help="go on with the last conversation of this folder",
    )
    add(
        "--resume",
        metavar="ID",
        nargs="?",
        const="",
        help="go on with this conversation; without ID, choose one",
    )
    add("--plain", action="store_true", help="chat line by line, in any terminal")
    add("--no-save", dest="save", action="store_false", help="keep this conversation off the disk")
    add("--save", action="store_true", help="save it, whatever the settings say")

    add = parser.add_argument_group("work on files, in the current folder").add_argument
    add(
        "--allow",
        metavar="RULES",
        type=some_text,
        action="append",
        help='what may be done unasked: read, edit, run:COMMAND, such as "read,edit,run:pytest"',
    )
    add(
        "--mode",
        metavar="MODE",
        type=one_of(*MODES),
        help="plan (only look), ask (default), edits (change files), auto (run commands, too)",
    )
    add(
        "--max-calls",
        metavar="N",
        type=whole(1, 100_000),
        help="calls of tools in one turn (default 40)",
    )
    add(
        "--best",
        metavar="N",
        type=whole(2, MOST_ATTEMPTS),
        help="make N attempts side by side, each in a copy of the files, and show the best one",
    )
    add(
        "--judge",
        metavar="COMMAND",
        type=some_text,
        help="the command that an attempt has to pass (default: the project's tests)",
    )
    add("--take", action="store_true", help="bring the best attempt into the files if it passes")

    add_pair_options(parser)
    add_drafting(parser)
    add_sampling(parser)
    return parser


def bench_parser() -> Parser:
    """The options of ``gemma-local bench``."""
    parser = Parser(
        "gemma-local bench",
        "Measures a pair: plain decoding, each draft length and the automatic one, interleaved.",
    )
    add_pair_options(parser)
    add = parser.add_argument_group("measuring").add_argument
    add("--draft", metavar="N,N", type=draft_lengths, help="draft lengths (default 1,2,3,4,6,8)")
    add("--kinds", metavar="KIND,...", type=kinds, help=f"of {', '.join(KINDS)} (default all)")
    add("--tokens", metavar="N", type=whole(2, 1 << 16), help="tokens to decode a run (default 64)")
    add("--repeat", metavar="N", type=whole(1, 1000), help="runs of each kind and arm (default 3)")
    add(
        "--raw-tokens",
        metavar="N",
        type=whole(1, 1 << 20),
        help="N random tokens as the prompt, in place of the built-in ones",
    )
    _add_exact(add)
    add("--json", action="store_true", help="print one JSON object in place of the table")
    add(
        "--simulate",
        metavar="PROFILE",
        nargs="*",
        help="no model: try how lengths are chosen on profiles of machines and texts, all, by "
        "name, or from a .json file",
    )
    return parser


def verify_parser() -> Parser:
    """The options of ``gemma-local verify``."""
    parser = Parser(
        "gemma-local verify",
        "Decodes prompts plain and with drafting, in the default and in the exact mode, and "
        "compares\ntexts and logits. A combination that passes may be called exact from then on.",
        f"exit status {ExitCode.DIFFERENT.value}: something differs in exact mode",
    )
    add_pair_options(parser)
    add = parser.add_argument_group("comparing").add_argument
    add("--draft", metavar="N,N", type=draft_lengths, help="draft lengths (default 2,3,4,6)")
    add("--tokens", metavar="N", type=whole(2, 1 << 16), help="tokens a prompt (default 64)")
    add("--prompts", metavar="FILE", help="own prompts, with an empty line between them")
    add("--raw", action="store_true", help="take the prompts as they stand, without a template")
    add("--json", action="store_true", help="print one JSON object in place of the table")
    return parser


def add_pair_options(parser: Parser) -> None:
    """The options about which pair is loaded, and how."""
    add = parser.add_argument_group("model").add_argument
    add(
        "--model",
        metavar="MODEL",
        type=some_text,
        help="a GGUF file, a size (E4B), or pocket, the small guide that comes along; or set "
        "GEMMA_LOCAL_MODEL (default: the best one here)",
    )
    add(
        "--drafter",
        metavar="FILE",
        type=some_text,
        help="its MTP drafter: auto (default, the one beside it), none, or a file",
    )
    add("--ctx", metavar="N", type=whole(16, 1 << 20), help="context length in tokens")
    add("--threads", metavar="N", type=whole(1, 1024), help="threads to compute with")
    add("--gpu-layers", metavar="N", type=whole(-1, 1024), help="layers on the GPU, -1: as planned")
    add(
        "--kv-type",
        metavar="TYPE",
        type=one_of("f16", "bf16", "q8_0"),
        help="numbers of the KV cache: f16 (usual), bf16, or q8_0 (half the memory)",
    )


def add_drafting(parser: Parser) -> None:
    """The options about drafts."""
    add = parser.add_argument_group("drafting").add_argument
    add(
        "--draft",
        metavar="N",
        type=draft_length,
        help=f"tokens to draft: auto (default), off, or 0 to {DRAFT_MAX}",
    )
    _add_exact(add)
    add(
        "--lenience",
        metavar="X",
        type=real(0, 1),
        help="also accept drafted tokens that are at least (1 - X) times as likely as the best "
        "one: faster, but no longer the model's own text (default 0)",
    )


def add_sampling(parser: Parser) -> None:
    """The options about how tokens are chosen."""
    add = parser.add_argument_group("sampling (the defaults are the model's)").add_argument
    add("--temperature", metavar="X", type=real(0, 10), help="0: always the likeliest token")
    add("--top-k", metavar="N", type=whole(0, 1 << 20), help="only the N likeliest, 0 for all")
    add(
        "--top-p",
        metavar="X",
        type=real(0, 1, above=True),
        help="only the likeliest that share this much, 1 for all",
    )
    add("--min-p", metavar="X", type=real(0, 1), help="only this likely beside the likeliest")
    add("--seed", metavar="N", type=whole(0, (1 << 63) - 1), help="the same seed, the same text")
    add("--repeat-penalty", metavar="X", type=real(0, 10, above=True), help="1 is off")
    add("--frequency-penalty", metavar="X", type=real(-2, 2), help="0 is off")
    add("--presence-penalty", metavar="X", type=real(-2, 2), help="0 is off")


def _add_exact(add: Callable[..., Any]) -> None:
    add(
        "--exact",
        metavar="WHEN",
        type=one_of("auto", "on", "off"),
        help="passes of one shape, so that drafting changes no bit of the logits: auto (default, "
        "where it costs no speed), on or off",
    )
