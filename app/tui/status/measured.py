"""All that a page of figures is made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gemma_local.app.launch import Launch
    from gemma_local.app.plain_speed import Gain, PlainSpeed
    from gemma_local.app.speed_log import SpeedLog
    from gemma_local.engine.messages import Ready


@dataclass(frozen=True, slots=True)
class Measured:
    """``log`` grows while the page is open. ``ready`` and ``launch`` are None without a model,
    ``pid`` is the engine's process. ``label`` is what may be said of the last answer's text."""

    log: SpeedLog
    ready: Ready | None = None
    launch: Launch | None = None
    plain: PlainSpeed | None = None
    pid: int | None = None
    label: str = ""

    @property
    def gain(self) -> Gain | None:
        """Of the answer that is coming, or of the last one."""
        tally, answers = self.log.tally, self.log.answers
        if self.plain is None or tally is None:
            return None
        return self.plain.gain(tally, exact=bool(answers) and answers[-1].exact)

    @property
    def uses_device(self) -> bool:
        """Whether something is computed on a graphics card."""
        planned = self.launch.planned if self.launch is not None else None
        return planned is not None and planned.fitting is not None and planned.fitting.share > 0
