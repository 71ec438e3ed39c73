"""Machines that were written down, as probes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import Any

from gemma_local.engine.hardware.detection import detect
from gemma_local.engine.hardware.devices import DeviceList
from gemma_local.engine.hardware.probes import Battery, Facts, MemoryFacts

FOLDER = Path(__file__).parent / "machines"
NAMES = sorted(path.parent.name for path in FOLDER.glob("*/machine.json"))


@dataclass
class RecordedProbes:
    """Answers from a record. Tests change the answers to make other machines."""

    known: Facts
    known_memory: MemoryFacts
    known_battery: Battery | None = None
    known_devices: DeviceList = field(default_factory=DeviceList)
    disks: dict[str, int] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    commands: dict[str, str] = field(default_factory=dict)

    def read_file(self, path: str) -> str | None:
        return self.files.get(path)

    def list_folder(self, path: str) -> tuple[str, ...]:
        start = f"{path}/"
        inside = {name[len(start) :].split("/")[0] for name in self.files if name.startswith(start)}
        return tuple(sorted(inside))

    def run(self, *words: str) -> str | None:
        return self.commands.get(" ".join(words))

    def facts(self) -> Facts:
        return self.known

    def memory(self) -> MemoryFacts:
        return self.known_memory

    def battery(self) -> Battery | None:
        return self.known_battery

    def disk_free(self, path: str) -> int | None:
        return self.disks.get(path)

    def devices(self) -> DeviceList:
        return self.known_devices


def machine(name: str) -> RecordedProbes:
    """The record of a machine in the folder ``machines``."""
    plain = json.loads((FOLDER / name / "machine.json").read_text("utf-8"))
    return RecordedProbes(
        known=Facts(**{key: _tuple(value) for key, value in plain["facts"].items()}),
        known_memory=MemoryFacts(**plain["memory"]),
        known_battery=Battery(**plain["battery"]) if plain["battery"] else None,
        known_devices=DeviceList.of_json(plain["devices"]),
        disks=plain["disk"],
        files={path: _text(lines) for path, lines in plain["files"].items()},
        commands={words: _text(lines) for words, lines in plain["commands"].items()},
    )


def golden(name: str) -> Any:
    """What is expected of a machine, as JSON."""
    return json.loads((FOLDER / name / "golden.json").read_text("utf-8"))


def store(probes: RecordedProbes) -> PurePath:
    """A folder for models that does not exist yet, in one that does."""
    folder = next(iter(probes.disks))
    kind = PureWindowsPath if "\\" in folder else PurePosixPath
    return kind(folder) / "gemma-local" / "models"


def found(name: str) -> Any:
    """What is found out of a machine, as JSON."""
    probes = machine(name)
    return json.loads(json.dumps(detect(probes, store=store(probes)).as_json()))


def _text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
