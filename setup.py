"""Maps the folders at the top level to the packages that they install as.

All else is in pyproject.toml, which can map ``app`` to ``gemma_local.app`` but then wants each
sub-package named by hand, and each file of ``share``. ``gemma_local`` itself is a namespace
package: there is no folder for it.
"""

from pathlib import Path

from setuptools import find_packages, setup

ROOMS = ("app", "engine", "models")
# The man page, completions, desktop entry and icon, where systems and pipx look for them.
SHARE = Path("packaging", "share")

setup(
    package_dir={f"gemma_local.{room}": room for room in ROOMS},
    packages=[
        f"gemma_local.{package}"
        for room in ROOMS
        # How the pocket pair is made is no part of what is installed.
        for package in find_packages(
            include=[room, f"{room}.*"], exclude=["models.pocket.train", "models.pocket.train.*"]
        )
    ],
    data_files=[
        (file.parent.relative_to(SHARE.parent).as_posix(), [file.as_posix()])
        for file in sorted(SHARE.rglob("*"))
        if file.is_file()
    ],
)
