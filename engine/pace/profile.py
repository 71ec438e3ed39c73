"""What a machine's passes cost and how a text goes, to try the controller on without a model."""

from __future__ import annotations

import json
import tomllib
from bisect import bisect_right
from importlib import resources
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from gemma_local.models.errors import GemmaLocalError

Milliseconds = Annotated[float, Field(gt=0, lt=1e6)]
Share = Annotated[float, Field(ge=0, le=1)]


class BadProfile(GemmaLocalError):
    """A profile that cannot be read, or that makes no sense."""


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Stretch(_Entry):
    """Tokens of one kind of text.

    The drafter's first token is kept with the chance ``acceptance``, each later one with
    ``fading`` times the chance of the one before, given that that was kept. ``spread`` says how
    much easy and hard tokens differ: 0 not at all, 1 means that some are sure and the others
    hopeless.

    After every ``fresh`` tokens on average something new comes; the tokens between repeat what
    was in the text before, which lookup can find. 0: nothing repeats. ``false_matches`` is the
    share of the new tokens at which lookup finds something all the same, which is wrong.
    """

    tokens: Annotated[int, Field(gt=0)] = 1000
    acceptance: Share = 0.0
    fading: Share = 1.0
    spread: Share = 0.0
    fresh: Annotated[float, Field(ge=0)] = 0.0
    false_matches: Share = 0.0


class Profile(_Entry):
    """A machine, a pair and a text.

    ``rows`` has milliseconds of passes by number of rows; between them it is interpolated, beyond
    the last it goes on as between the last two. ``per_1k_context`` is added for every 1024 tokens
    of context, and ``per_row_1k`` for every row there. ``drafted_token`` is milliseconds, 0: no
    drafter. ``confidence``: whether what the drafter states of a token tells how easy it is.

    ``noise`` is the standard deviation of a pass's logarithm; a share ``hiccups`` takes three
    times as long. From the token ``busy_from`` to ``busy_until`` another process slows all passes
    down ``busy`` times. ``context`` is tokens of the prompt. The stretches follow each other.
    """

    name: Annotated[str, Field(min_length=1)]
    rows: dict[int, Milliseconds]
    drafted_token: Annotated[float, Field(ge=0)]
    stretches: Annotated[tuple[Stretch, ...], Field(min_length=1)]
    per_1k_context: Annotated[float, Field(ge=0)] = 0.0
    per_row_1k: Annotated[float, Field(ge=0)] = 0.0
    confidence: bool = True
    block: Annotated[int, Field(ge=1, le=8)] = 1
    most_rows: Annotated[int, Field(ge=1, le=128)] = 16
    draft_max: Annotated[int, Field(ge=0, le=16)] = 8
    lookup: bool = False
    sequences: Annotated[int, Field(ge=1, le=16)] = 1
    context: Annotated[int, Field(ge=0)] = 512
    noise: Annotated[float, Field(ge=0, le=2)] = 0.03
    hiccups: Share = 0.01
    busy: Annotated[float, Field(ge=1)] = 1.0
    busy_from: Annotated[int, Field(ge=0)] = 0
    busy_until: Annotated[int, Field(ge=0)] = 0

    @field_validator("rows")
    @classmethod
    def _begins_with_one(cls, rows: dict[int, float]) -> dict[int, float]:
        if 1 not in rows or min(rows) < 1:
            raise ValueError("needs the milliseconds of 1 row, and of none below")
        return dict(sorted(rows.items()))

    @property
    def tokens(self) -> int:
        """Of all stretches."""
        return sum(stretch.tokens for stretch in self.stretches)

    def pass_seconds(self, rows: int, context: int) -> float:
        """Seconds of a pass, before any noise."""
        known = list(self.rows)
        at = bisect_right(known, rows) - 1
        low = known[max(min(at, len(known) - 2), 0)]
        high = known[min(known.index(low) + 1, len(known) - 1)]
        value = self.rows[low]
        if high > low:
            value += (self.rows[high] - self.rows[low]) * (rows - low) / (high - low)
        thousands = context / 1024
        value += thousands * (self.per_1k_context + self.per_row_1k * rows)
        return value / 1e3


class _File(_Entry):
    profile: Annotated[tuple[Profile, ...], Field(min_length=1)]


def usual_profiles() -> tuple[Profile, ...]:
    """Those of ``profiles.toml``."""
    text = resources.files(__package__).joinpath("profiles.toml").read_text("utf-8")
    return _File.model_validate(tomllib.loads(text)).profile


def read_profiles(path: Path) -> tuple[Profile, ...]:
    """Profiles of one's own: ``{"profile": [{...}, ...]}`` in JSON, or one such object alone.

    Raises BadProfile.
    """
    try:
        whole = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise BadProfile(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise BadProfile(f"{path} is no JSON: {error}") from error
    if not isinstance(whole, dict):
        raise BadProfile(f"{path} holds no profile; write an object with name, rows and stretches")
    try:
        return _File.model_validate(whole if "profile" in whole else {"profile": [whole]}).profile
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        place = ".".join(str(step) for step in problem["loc"][2:]) or "profile"
        message = problem["msg"].removeprefix("Value error, ")
        raise BadProfile(f"{path}: {place}: {message[:1].lower()}{message[1:]}") from error
