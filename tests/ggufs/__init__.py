"""GGUF files for tests: small Gemma 4 pairs that llama.cpp loads and whose behaviour is known.

A scripted pair says what it is told, after any prompt, and its drafter errs where it is told::

    said = script(["Hello", " there", "."])
    pair = build("edge", said, folder, drafter=Drafter(wrong_every=4))
    pair.text, pair.expected(draft_length=3, max_tokens=50).accepted

A pair with steps says the next of them each time that it is asked, as an agent does::

    build("dense", Steps.of([call("read", path="a.py")], ["All is well."]), folder)

A random pair (``build("moe", Random(pull=16.0), folder)``) says nothing in particular, but all its
layers work. Files are built in some 50 ms, once for a folder, and are about 1 MB.
"""

from tests.ggufs.acceptance import Acceptance, Drafter, expected_acceptance
from tests.ggufs.build import Pair, build, build_shallow
from tests.ggufs.random_pair import Random
from tests.ggufs.script import NAN, Script, pieces_of, printed, script
from tests.ggufs.steps import Steps, call
from tests.ggufs.vocabulary import WRONG, Vocabulary, byte_tokens, vocabulary

__all__ = [
    "NAN",
    "WRONG",
    "Acceptance",
    "Drafter",
    "Pair",
    "Random",
    "Script",
    "Steps",
    "Vocabulary",
    "build",
    "build_shallow",
    "byte_tokens",
    "call",
    "expected_acceptance",
    "pieces_of",
    "printed",
    "script",
    "vocabulary",
]
