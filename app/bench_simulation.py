"""``gemma-local bench --simulate``: how well the draft length is chosen, without a model.

The controller that the engine uses decides on made-up passes over made-up texts, and is compared
with every fixed length there, the best of which nobody knows in advance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Final

from gemma_local.app.errors import UsageError
from gemma_local.app.exit_codes import ExitCode
from gemma_local.app.options import BenchOptions
from gemma_local.app.output import write_json
from gemma_local.app.terminal import progress, table
from gemma_local.engine.pace.profile import Profile, read_profiles, usual_profiles
from gemma_local.engine.pace.simulation import Outcome, simulate
from gemma_local.models.given_path import given_path

USUAL: Final = 3
"""The length that llama.cpp drafts unless it is told another one."""


@dataclass(frozen=True, slots=True)
class Contest:
    """Speeds on one profile in tokens a second, means over several texts.

    ``fixed[n]`` is that of drafts of n tokens, 0 without; ``auto`` the controller's, which knows
    nothing when a text begins.
    """

    profile: Profile
    auto: float
    fixed: tuple[float, ...]
    runs: tuple[Outcome, ...]

    @property
    def best(self) -> int:
        """The length that turned out to be the best of all texts of this kind."""
        return max(range(len(self.fixed)), key=lambda length: self.fixed[length])

    @property
    def of_best(self) -> float:
        """Speed over that of the best fixed length."""
        return self.auto / self.fixed[self.best]

    @property
    def acceptance(self) -> float | None:
        drafted = sum(run.drafted for run in self.runs)
        return sum(run.accepted for run in self.runs) / drafted if drafted else None

    @property
    def parked(self) -> float:
        """Share of passes without a draft because none would have paid."""
        return sum(run.parked for run in self.runs) / sum(run.passes for run in self.runs)

    @property
    def milliseconds(self) -> float:
        """Spent deciding, per pass of a sequence, on this machine as it is."""
        return 1e3 * mean(run.controller_seconds / run.passes for run in self.runs)


def run(options: BenchOptions) -> ExitCode:
    """Simulate and report. Raises GemmaLocalError."""
    profiles = chosen(options.simulate or ())
    contests = []
    for number, profile in enumerate(profiles, 1):
        progress.show(f"profile {number} of {len(profiles)}: {profile.name}")
        contests.append(contest(profile, options.repeat))
    progress.clear()
    if options.json:
        write_json({"repeat": options.repeat, "profiles": [_as_json(each) for each in contests]})
    else:
        print(as_text(contests))
    return ExitCode.OK


def chosen(names: Sequence[str]) -> list[Profile]:
    """Profiles by name, or the beginning of one, or from files; all usual ones without any.

    Raises UsageError, BadProfile.
    """
    usual = usual_profiles()
    found: list[Profile] = []
    for name in names:
        if name.endswith(".json"):
            found += read_profiles(given_path(name))
            continue
        named = [profile for profile in usual if profile.name.startswith(name)]
        if not named:
            known = ", ".join(profile.name for profile in usual)
            raise UsageError(f"--simulate: there is no profile {name!r}; give a .json or {known}")
        found += [profile for profile in named if profile not in found]
    return found or list(usual)


def contest(profile: Profile, repeat: int) -> Contest:
    """Every length on ``repeat`` texts of the profile's kind, the same for all."""
    longest = profile.draft_max if profile.drafted_token else 0
    lengths = range(min(longest, profile.most_rows - 1) + 1)
    seeds = range(1, repeat + 1)
    runs = tuple(simulate(profile, None, seed=seed) for seed in seeds)
    fixed = tuple(
        mean(simulate(profile, length, seed=seed).speed for seed in seeds) for length in lengths
    )
    return Contest(profile, mean(run.speed for run in runs), fixed, runs)


def as_text(contests: Sequence[Contest]) -> str:
    """The table that a person reads."""
    header = (
        *("profile", "auto tokens/s", "best fixed", "auto to it", f"fixed {USUAL} to it"),
        *("plain to it", "acceptance", "parked", "deciding"),
    )
    rows = []
    for each in contests:
        best = each.fixed[each.best]
        usual = each.fixed[USUAL] if len(each.fixed) > USUAL else None
        rows.append(
            (
                each.profile.name,
                f"{each.auto:.1f}",
                f"{best:.1f} ({each.best or 'plain'})",
                f"{each.of_best:.2f}x",
                "-" if usual is None else f"{usual / best:.2f}x",
                f"{each.fixed[0] / best:.2f}x",
                "-" if each.acceptance is None else f"{each.acceptance:.0%}",
                f"{each.parked:.0%}",
                f"{each.milliseconds:.2f} ms",
            )
        )
    worst = min(contests, key=lambda each: each.of_best)
    return (
        f"{table(header, rows)}\n\nleast of the best fixed length: {worst.of_best:.2f}x, "
        f"{worst.profile.name}"
    )


def _as_json(each: Contest) -> dict[str, object]:
    lengths = [sum(column) for column in zip(*(run.lengths for run in each.runs), strict=True)]
    return {
        "name": each.profile.name,
        "auto": each.auto,
        "fixed": list(each.fixed),
        "best_length": each.best,
        "to_best": each.of_best,
        "acceptance": each.acceptance,
        "parked": each.parked,
        "passes_by_length": lengths,
        "milliseconds_deciding": each.milliseconds,
    }
