"""Chargers, batteries and modes that save power, as Linux and macOS tell of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gemma_local.engine.hardware.detection import detect
from gemma_local.engine.hardware.machine import Power
from gemma_local.engine.hardware.probes import Battery
from tests.engine.hardware.recorded import machine

SUPPLIES = "/sys/class/power_supply"


def linux(profile: str = "", **supplies: dict[str, str]) -> Power:
    """The power of a machine with these supplies."""
    probes = machine("virtual-machine-2-cores")
    for name, values in supplies.items():
        for key, value in values.items():
            probes.files[f"{SUPPLIES}/{name}/{key}"] = f"{value}\n"
    if profile:
        probes.files["/sys/firmware/acpi/platform_profile"] = f"{profile}\n"
    return detect(probes).power


def battery(status: str, capacity: int = 50) -> dict[str, str]:
    return {"type": "Battery", "status": status, "capacity": str(capacity)}


@pytest.mark.parametrize(
    ("status", "online", "on_battery"),
    [
        ("Discharging", "0", True),
        # A charger too weak for the load: on mains all the same.
        ("Discharging", "1", False),
        ("Not charging", "1", False),
        ("Full", "1", False),
        ("Charging", "0", False),
        ("Unknown", "0", False),
    ],
)
def test_on_battery_is_discharging_without_a_charger(
    status: str, online: str, on_battery: bool
) -> None:
    mains = {"type": "Mains", "online": online}
    assert linux(AC=mains, BAT0=battery(status)).on_battery is on_battery
    usb = {"type": "USB", "online": online}
    assert linux(ucsi=usb, BAT0=battery(status)).on_battery is on_battery


def test_two_batteries_count_together() -> None:
    power = linux(BAT0=battery("Discharging", 90), BAT1=battery("Not charging", 30))
    assert power.on_battery and power.percent == 60.0


def test_a_keyboard_s_battery_is_not_the_machine_s() -> None:
    power = linux(hid={**battery("Discharging", 20), "scope": "Device"})
    assert power == Power(False, False, None, None)


@pytest.mark.parametrize(
    ("profile", "saves"),
    [("low-power", True), ("quiet", True), ("balanced", False), ("performance", False), ("", None)],
)
def test_the_firmware_s_profile(profile: str, saves: bool | None) -> None:
    assert linux(profile).saves_power is saves


@pytest.mark.parametrize(
    ("line", "saves"),
    [
        (" lowpowermode         1", True),
        (" lowpowermode         0", False),
        (" powermode            2", False),
        (" powermode            1", True),
        (" displaysleep         1", None),
    ],
)
def test_macos(line: str, saves: bool | None) -> None:
    probes = machine("macbook-air-m2-16gb")
    probes.commands["pmset -g"] = f"Currently in use:\n{line}\n"
    assert detect(probes).power.saves_power is saves


def test_a_battery_that_does_not_say_whether_it_is_used() -> None:
    probes = machine("windows-laptop-nvidia")
    probes.known_battery = Battery(80.0, None)
    power = detect(probes).power
    assert power.has_battery and power.on_battery is None
    desktop = replace(probes, known_battery=None)
    assert detect(desktop).power == Power(False, False, None, None)
