"""Battery or mains, and whether the machine saves power."""

from __future__ import annotations

import re
from typing import Final

from gemma_local.engine.hardware.machine import Power
from gemma_local.engine.hardware.probes import Facts, Probes

_SUPPLIES: Final = "/sys/class/power_supply"
_PROFILE: Final = "/sys/firmware/acpi/platform_profile"
_SAVING: Final = ("low-power", "quiet", "cool")


def find_power(probes: Probes, facts: Facts) -> Power:
    """What is known of the power supply. A desktop has no battery and is not on one."""
    if facts.system == "Linux":
        return _linux(probes)
    saves_power = _low_power_mode(probes) if facts.system == "Darwin" else None
    battery = probes.battery()
    if battery is None:
        return Power(has_battery=False, on_battery=False, percent=None, saves_power=saves_power)
    on_battery = None if battery.on_mains is None else not battery.on_mains
    return Power(True, on_battery, battery.percent, saves_power)


def _linux(probes: Probes) -> Power:
    """From the kernel's list of power supplies: psutil takes a mouse's battery for the machine's
    and a charger that is plugged in but idle for none."""
    has_battery, is_discharging, has_mains = False, False, False
    percents: list[float] = []
    for name in probes.list_folder(_SUPPLIES):

        def value(key: str, supply: str = name) -> str:
            return (probes.read_file(f"{_SUPPLIES}/{supply}/{key}") or "").strip()

        match value("type"):
            case "Battery" if value("scope") != "Device":
                has_battery = True
                is_discharging |= value("status") == "Discharging"
                if charge := value("capacity"):
                    percents.append(float(charge))
            case "Mains" | "USB" if value("scope") != "Device":
                has_mains |= value("online") == "1"
    profile = (probes.read_file(_PROFILE) or "").strip()
    return Power(
        has_battery=has_battery,
        on_battery=has_battery and is_discharging and not has_mains,
        percent=sum(percents) / len(percents) if percents else None,
        saves_power=profile in _SAVING if profile else None,
    )


def _low_power_mode(probes: Probes) -> bool | None:
    """macOS' Low Power Mode, from the settings that are in force now."""
    found = re.search(
        r"^\s*(?:lowpowermode|powermode)\s+(\d)", probes.run("pmset", "-g") or "", re.MULTILINE
    )
    # 0 is automatic, 1 low power, 2 high power.
    return found.group(1) == "1" if found else None
