"""From prompt pieces to token ids and from token ids to text."""

from __future__ import annotations

import codecs
import itertools
from collections.abc import Iterable

from gemma_local.engine.runtime.vocabulary import Vocabulary
from gemma_local.models.prompt import Control, Ids, Markup, Prompt, Text
from gemma_local.models.special_texts import SpecialTexts


class Encoder:
    """Turns prompts into ids so that control tokens come only from ``Control`` and ``Markup``."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        # llama.cpp matches USER_DEFINED tokens even with special parsing off, and six of Gemma 4's
        # markers are of that type alone: a file could close a string or forge a tool's result.
        self._always_matched = SpecialTexts(
            marker
            for marker, token in vocabulary.markers.items()
            if token in vocabulary.tokenise(marker, markup=False)
        )

    def ids(self, prompt: Prompt) -> list[int]:
        """Token ids of the whole prompt: one BOS in front if the model wants one.

        Raises GemmaLocalError when a named control token does not exist in this vocabulary.
        """
        ids = self.part_ids(prompt)
        vocabulary = self._vocabulary
        # A template may have written the BOS already; two of them make Gemma ramble.
        if vocabulary.adds_bos and (not ids or ids[0] != vocabulary.bos):
            ids.insert(0, vocabulary.bos)
        return ids

    def part_ids(self, prompt: Prompt) -> list[int]:
        """Token ids of a part of a prompt, as ``ids``, but nothing is put in front of it."""
        vocabulary = self._vocabulary
        ids: list[int] = []
        for piece in prompt:
            match piece:
                case Control(token):
                    ids.append(vocabulary.id_of(token))
                case Text(text):
                    ids.extend(self.text_ids(text))
                case Markup(text):
                    ids.extend(vocabulary.tokenise(text, markup=True))
                case Ids(known):
                    ids.extend(known)
        return ids

    def text_ids(self, text: str) -> list[int]:
        """Ids of untrusted text; no control token is among them.

        A marker that llama.cpp would match is cut after its first character and the halves are
        tokenised apart: nothing is left that spells it, and the model still reads it. Text
        without such a marker keeps its tokens. Takes time in proportion to the text.
        """
        starts = self._always_matched.starts(text)
        cuts = [0, *(start + 1 for start in starts), len(text)]
        return [
            token
            for start, end in itertools.pairwise(cuts)
            for token in self._vocabulary.tokenise(text[start:end], markup=False)
        ]


class Detokeniser:
    """Token ids to text, one at a time; characters that span tokens appear when complete."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._utf8 = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, token: int) -> str:
        """What became printable with ``token``, possibly nothing."""
        return self._utf8.decode(self._vocabulary.piece(token))

    def finish(self) -> str:
        """What is left: a replacement character if a character was cut off, else nothing."""
        return self._utf8.decode(b"", final=True)


class StopStrings:
    """Watches a stream of text for stop strings, also when they span tokens.

    Text that could still become a stop string is held back until it is decided.
    """

    def __init__(self, stops: Iterable[str]) -> None:
        self._stops = tuple(stop for stop in stops if stop)
        self._held = ""
        self.found: str | None = None

    def feed(self, text: str) -> str:
        """What may be shown now. Once a stop string is complete, ``found`` is set and the text
        ends just before it; nothing is released after that."""
        if self.found is not None:
            return ""
        if not self._stops:
            return text
        held = self._held + text
        hits = [(at, stop) for stop in self._stops if (at := held.find(stop)) >= 0]
        if hits:
            at, self.found = min(hits, key=lambda hit: hit[0])
            self._held = ""
            return held[:at]
        keep = max(_overlap(held, stop) for stop in self._stops)
        self._held = held[len(held) - keep :]
        return held[: len(held) - keep]

    def finish(self) -> str:
        """The held-back text, when the stream ends without a stop string."""
        held, self._held = self._held, ""
        return held


def _overlap(text: str, stop: str) -> int:
    """Length of the longest end of ``text`` that ``stop`` begins with, shorter than ``stop``."""
    longest = min(len(text), len(stop) - 1)
    return next((n for n in range(longest, 0, -1) if stop.startswith(text[-n:])), 0)
