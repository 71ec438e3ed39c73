"""macOS's kernel values."""

from __future__ import annotations

from gemma_local.engine.hardware.probes import Probes


def read_sysctl(probes: Probes) -> dict[str, str]:
    """Values by name: the processor's, and the limit of memory that a GPU may take.

    Whole branches are asked for, because one unknown name would cost the others. Lines that are
    no value are skipped.
    """
    text = probes.run(
        "sysctl", "hw", "machdep.cpu", "iogpu", "kern.hv_vmm_present", "sysctl.proc_translated"
    )
    pairs = (line.partition(": ") for line in (text or "").splitlines())
    return {name: value.strip() for name, separator, value in pairs if separator}
