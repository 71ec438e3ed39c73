"""What a person can set: the tables of ``config.toml``.

A docstring under a setting is its documentation: in the file that ``gemma-local config init``
writes, in ``docs/settings.md`` and in the JSON schema. A setting that is also an option of the
command line has its name. Reading and changing the file: ``settings_file``.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
)

from gemma_local.app.agent.consent import Mode
from gemma_local.engine.messages import DRAFT_MAX

Word = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
Auto: TypeAlias = Literal["auto"]

AUTO: Final = "auto"


def _several(value: Any) -> Any:
    """One key, keys with commas between them, or a list of keys."""
    if not isinstance(value, str):
        return value
    # A comma alone is the key with that name.
    return [value] if value.strip() == "," else [key.strip() for key in value.split(",")]


Keys = Annotated[
    list[Word],
    BeforeValidator(_several),
    Field(min_length=1),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "minLength": 1},
                {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1},
            ]
        }
    ),
]


class _Table(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True
    )


class ModelSettings(_Table):
    """``[model]``: which model is loaded, and how."""

    model: Word = AUTO
    """A GGUF file or a size, such as "E4B"; "auto" takes the best one that is here."""
    drafter: Word = AUTO
    """The MTP drafter: "auto" takes the one that fits, "none" goes without, else a file."""
    ctx: Auto | Annotated[int, Field(ge=16, le=1 << 20)] = AUTO
    """The context's length in tokens; "auto" is what fits, mostly 32,768."""
    threads: Auto | Annotated[int, Field(ge=1, le=1024)] = AUTO
    """Threads to compute with; "auto" is one for each core that computes."""
    gpu_layers: Auto | Annotated[int, Field(ge=0, le=1024)] = AUTO
    """Layers on the GPU; "auto" is all that fit, if that is faster."""
    kv_type: Literal["auto", "f16", "bf16", "q8_0"] = AUTO
    """Numbers of the KV cache; "q8_0" takes half the memory of the others."""


class AnswerSettings(_Table):
    """``[answer]``: what the model is told, and where its answer ends."""

    system: str = ""
    """Instructions to the model, before each new conversation."""
    think: Literal["off", "on"] | Annotated[int, Field(ge=1, le=1 << 20)] = "off"
    """Whether the model thinks first: "off", "on", or the most tokens that it may think."""
    max_tokens: Auto | Annotated[int, Field(ge=1, le=1 << 20)] = AUTO
    """The most tokens of an answer; "auto" lets it end by itself."""
    stop: list[Annotated[str, Field(min_length=1)]] = Field(default_factory=list)
    """Texts before which an answer stops."""


class ConversationSettings(_Table):
    """``[conversations]``: what is kept of them."""

    save: bool = True
    """Whether conversations are saved on this machine."""


class DraftingSettings(_Table):
    """``[drafting]``: how much is guessed ahead."""

    draft: Literal["auto", "off"] | Annotated[int, Field(ge=0, le=DRAFT_MAX)] = AUTO
    """How many tokens to draft; "auto" is as many as pay, "off" is none."""
    exact: Literal["auto", "on", "off"] = AUTO
    """Passes of one shape, so that drafting changes no bit: "auto" where that costs no speed."""
    lenience: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Above 0, near misses of the drafter are accepted: faster, but no longer exact."""


class SamplingSettings(_Table):
    """``[sampling]``: how tokens are chosen. "auto" is what Gemma 4's makers recommend; guests get
    a temperature of 0.7, a top_k of 40, a top_p of 0.95 and a min_p of 0.05."""

    temperature: Auto | Annotated[float, Field(ge=0, le=10)] = AUTO
    """0 is always the likeliest token."""
    top_k: Auto | Annotated[int, Field(ge=0, le=1 << 20)] = AUTO
    """Only this many of the likeliest tokens; 0 is all."""
    top_p: Auto | Annotated[float, Field(gt=0, le=1)] = AUTO
    """Only the likeliest tokens that share this much of the probability; 1 is all."""
    min_p: Auto | Annotated[float, Field(ge=0, le=1)] = AUTO
    """Only tokens that are this likely beside the likeliest."""
    seed: Auto | Annotated[int, Field(ge=0, le=(1 << 63) - 1)] = AUTO
    """The same seed, the same text; "auto" is another one for each answer."""
    repeat_penalty: Annotated[float, Field(gt=0, le=10)] = 1.0
    """Above 1, tokens that were there already become less likely."""
    frequency_penalty: Annotated[float, Field(ge=-2, le=2)] = 0.0
    """The same, by how often they were there; 0 is off."""
    presence_penalty: Annotated[float, Field(ge=-2, le=2)] = 0.0
    """The same, once for each; 0 is off."""


class ScreenSettings(_Table):
    """``[screen]``: how it looks."""

    theme: Word = "gemma-dark"
    """The theme; "/theme " in the app offers those that there are. "auto" goes by the terminal."""
    glyphs: Literal["auto", "unicode", "ascii"] = "auto"
    """Whether lines, bars and marks are drawn with Unicode or with ASCII alone."""
    mouse: bool = True
    """false leaves the mouse to the terminal, so that it selects text as everywhere else."""
    tint: bool = False
    """Whether text that the drafter proposed is tinted."""
    thoughts: bool = False
    """Whether thoughts are shown open."""
    columns: Annotated[int, Field(ge=40, le=400)] = 100
    """The widest that text becomes."""
    animation: Literal["auto", "none"] = "auto"
    """"none" keeps everything still; "auto" does so over SSH."""


class NotifySettings(_Table):
    """``[notify]``: how you hear that an answer is there."""

    when: Literal["unfocused", "always", "never"] = "unfocused"
    """Only while you look at another window, each time, or not at all."""
    after: Annotated[int, Field(ge=0, le=86400)] = 10
    """Seconds; a quicker answer is not worth a notice."""
    how: Literal["auto", "bell", "osc9"] = "auto"
    """The terminal's bell, or a notification of the desktop (OSC 9) where the terminal knows it."""


class ComposerSettings(_Table):
    """``[composer]``: where you write."""

    editor: str = ""
    """The command of an editor for long messages; empty: $VISUAL, $EDITOR."""


class AgentSettings(_Table):
    """``[agent]``: what the model may do by itself."""

    mode: Mode = "ask"
    """Only look, ask before every change, edit files without asking, or run commands as well."""
    tools: Literal["auto", "on", "off"] = "auto"
    """Whether the model may work on files: "auto" in the folder of a project, which may be empty,
    with a context of 8,192 tokens or more; "on" in every folder but those that hold everything."""
    rules: list[Word] = Field(default_factory=list)
    """What is allowed without asking, such as "run: pytest *" or "edit: src/**", or forbidden, such
    as "!run: make deploy *"."""
    network: bool = False
    """Whether commands may use the network where they run in a sandbox."""
    max_calls: Annotated[int, Field(ge=1, le=100_000)] = 40
    """Calls of tools in one turn, after which you are asked whether it is to go on."""


class Settings(_Table):
    """All of ``config.toml``. What it leaves out has the value given here."""

    model: ModelSettings = ModelSettings()
    answer: AnswerSettings = AnswerSettings()
    conversations: ConversationSettings = ConversationSettings()
    drafting: DraftingSettings = DraftingSettings()
    sampling: SamplingSettings = SamplingSettings()
    agent: AgentSettings = AgentSettings()
    screen: ScreenSettings = ScreenSettings()
    notify: NotifySettings = NotifySettings()
    composer: ComposerSettings = ComposerSettings()
    keys: dict[str, Keys] = Field(default_factory=dict)
    """``[keys]``: other keys for what can be done, such as find = "ctrl+x" or a list."""
