"""Words and made-up names.

Some nouns, adjectives, people and made-up words are held out: no name that training uses has one in
it, and each name of a test has. Verbs are too few for that.
"""

from __future__ import annotations

import keyword
import random
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final, Literal

Split = Literal["train", "test"]

_HELD_OUT: Final = 8
"""One in so many."""

_ONSETS: Final = (
    "b bl br c ch cl cr d dr f fl fr g gl gr h j k kl kr l m n p pl pr qu r s sc sh sk sl sm sn sp "
    "st str t th tr v w wh z"
).split()
_VOWELS: Final = "a e i o u ai ea ee ia io oa oo ou".split()
_CODAS: Final = "b ck d f g k l ll m n nd ng nk nt p r rd rk rn rt s sh sk st t th x".split()

NOUNS: Final = """
account action address agent alarm album angle answer apple archive area arrow asset author badge bag
balance band bank bar basket batch beam bird block board body bonus book border bottle box branch brand
bridge bucket budget buffer button cable cache camera card cart case cell chain chair change channel
chart check circle city claim class client clock cloud code coin color column command comment company
contact contract copy corner cost count country course cover credit crop cycle data date day deal deck
delay demand depth desk detail device diagram digit disk distance doc door draft driver edge email
engine entry error event exam export face factor farm feature feed fence field file film filter flag
flight floor flow folder font food form frame fruit fuel game garden gate gift goal grade graph grid
group guard guest guide hand handle hash header heap height hint history hole home hook host hotel hour
house icon idea image index info input invoice island item job journal key kind label lake lamp layer
leaf lesson letter level library light limit line link list load loan lock log loop lot machine mail
map mark market mask match matrix meal member memo menu message meter metric mode model module month
motor mouse name need net node note notice number object office option order output owner pack page
paint pair panel paper parcel park part party path pattern payment peak person phone photo piece pixel
place plan plane plant plate player plot point pool port post price print process product profile
project proof queue quote rack range rank rate ratio ray record region reply report result ring river
road robot role roof room root route row rule sale sample scale scene schedule school score screen seat
sector seed segment sensor series server session shape share sheet shelf shift ship shop signal site
size skill slot socket song sound source space speed stack staff stage stamp star state station step
stock store stream street student style subject sum switch symbol table tag target task tax team term
test text theme thread ticket tile time title token tool topic total town track trade train tree trend
trip truck type unit user value vector vehicle version video view visit voice volume wall ward watch
wave week weight wheel width wind window word worker year zone
""".split()

VERBS: Final = """
add apply build call check clean clear collect compute convert copy count create cut decode delete
drop encode export extract fetch fill filter find fix flush format get group handle import init insert
join list load lock log make map mark match merge move open pack parse pick print process pull push
read record reduce remove rename render reset resolve run save scan score search select send set show
skip sort split start stop store strip sum swap sync tag take test track trim update use validate wrap
write
""".split()

ADJECTIVES: Final = """
active all big bold clean current daily deep empty even exact extra fast final first flat free fresh
full global good green heavy hidden high hot inner large last late left light local long lost low main
max mean mini new next old open outer own plain public quick raw ready real red rich right root safe
short simple slow small smart soft solid spare stable still strong tall temp thin tiny top true valid
warm weekly wide wild young
""".split()

PEOPLE: Final = """
Ada Alan Alice Amir Ana Anna Ben Bob Carla Carlos Chen Clara Daniel David Dora Elena Emma Erik Eva Felix
Fatima Finn Grace Greta Hana Hugo Ida Ines Ivan Jack Jana Jonas Julia Karim Kate Kenji Lara Lena Leo
Lina Louis Lucy Marco Maria Mark Maya Mei Mia Milan Nadia Nils Nina Noah Nora Olga Omar Oscar Paul
Peter Petra Priya Rosa Ruth Sam Sara Sofia Sven Tariq Theo Tim Tom Vera Victor Yara Yuki Zoe
""".split()

CITIES: Final = """
Amsterdam Athens Berlin Bern Bonn Boston Brussels Cairo Chicago Delhi Denver Dublin Geneva Graz Hamburg
Helsinki Kyoto Lagos Leeds Lima Lisbon London Lyon Madrid Milan Munich Nairobi Naples Oslo Paris Porto
Prague Quito Rome Seoul Sofia Sydney Tokyo Toronto Turin Vienna Warsaw Zurich
""".split()


KNOWN_TERMS: Final = frozenset(
    """agent cache checkpoint command context draft edit file folder help key license load log loop
    machine memory mode model mode option pass plan read search seed session size speed stop target
    test theme thought token tool version window workspace""".split()
)
"""Nouns and verbs that mean something in gemma-local, so a question about one is no odd question."""


def is_held_out(word: str) -> bool:
    """Whether a word is kept for tests."""
    return zlib.crc32(word.lower().encode()) % _HELD_OUT == 0


def pick(rng: random.Random, words: Sequence[str], split: Split) -> str:
    """A word for training, or one that is held out; any, if the list has none of that kind."""
    return rng.choice(_part(tuple(words), split))


@cache
def _part(words: tuple[str, ...], split: Split) -> tuple[str, ...]:
    return tuple(word for word in words if is_held_out(word) == (split == "test")) or words


def mostly_first(texts: Sequence[str], rng: random.Random, usual: float = 0.6) -> str:
    """One of several wordings, the first one in a share of ``usual``: a usual one leaves less to
    chance, which is noise to whom learns what to say."""
    return texts[0] if rng.random() < usual else rng.choice(texts)


def made_up(rng: random.Random, split: Split) -> str:
    """A word that does not exist, such as ``brunk`` or ``solmitea``; in training also scraps of
    words, such as ``chedusers``, which begin with what no syllable begins with."""
    if split == "train" and rng.random() < 0.5:
        return _scraps(rng)
    while True:
        word = "".join(
            rng.choice(_ONSETS) + rng.choice(_VOWELS) for _ in range(rng.choice((1, 1, 2, 2, 3)))
        )
        if rng.random() < 0.6:
            word += rng.choice(_CODAS)
        usable = len(word) > 2 and not keyword.iskeyword(word)
        if usable and is_held_out(word) == (split == "test"):
            return word


def _scraps(rng: random.Random) -> str:
    """One to three pieces of words in a row."""
    while True:
        word = "".join(rng.choice(_pieces()) for _ in range(rng.choice((1, 2, 2, 3))))
        if len(word) > 2 and not keyword.iskeyword(word) and not is_held_out(word):
            return word


@cache
def _pieces() -> tuple[str, ...]:
    """Pieces that a vocabulary has, so that each of them begins a name now and then."""
    return tuple(Path(__file__).with_name("pieces.txt").read_text("utf-8").split())


def word(rng: random.Random, split: Split) -> str:
    """A noun or a made-up word."""
    return made_up(rng, split) if rng.random() < 0.45 else pick(rng, NOUNS, split)


def random_letters(rng: random.Random) -> str:
    """Letters and digits without any sense."""
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    return "".join(rng.choice(letters) for _ in range(rng.randint(2, 7)))


def identifier(rng: random.Random, split: Split) -> str:
    """A Python name of one to three words, such as ``load_user`` or ``brunk``."""
    shape = rng.random()
    if split == "train" and rng.random() < 0.4:
        # So that a name cannot be told from its kind: each must be copied from its first letter on.
        name = _scraps(rng) + rng.choice(("", "", f"_{word(rng, split)}", f"_{_scraps(rng)}"))
    elif shape < 0.3:
        name = word(rng, split)
    elif shape < 0.6:
        name = f"{rng.choice(VERBS)}_{word(rng, split)}"
    elif shape < 0.75:
        name = f"{word(rng, split)}_{word(rng, split)}"
    elif shape < 0.85:
        adjective = pick(rng, ADJECTIVES, split)
        name = f"{rng.choice(VERBS)}_{adjective}_{word(rng, split)}"
    elif shape < 0.95:
        name = made_up(rng, split)
    else:
        name = f"{word(rng, split)}_{rng.randint(1, 99)}"
    return name if name.isidentifier() and name not in _RESERVED else f"{name}_x"


_RESERVED: Final = frozenset(
    "and as assert break class def del elif else for from if import in is list map max min not or "
    "pass print range raise return set sum try while with yield all any format filter hash input "
    "open sorted type zip len str int float abs round".split()
)


def file_name(rng: random.Random, split: Split, suffixes: Sequence[str]) -> str:
    """A file's name with one of the suffixes."""
    stem = identifier(rng, split)
    if rng.random() < 0.15:
        stem = stem.replace("_", "-")
    return stem + rng.choice(suffixes)


def folder_name(rng: random.Random, split: Split) -> str:
    """A folder's name, often one of those that most projects have."""
    usual = ("src", "tests", "docs", "app", "lib", "tools", "data", "scripts", "config", "core")
    return rng.choice(usual) if rng.random() < 0.5 else word(rng, split)


def path(rng: random.Random, split: Split, suffixes: Sequence[str]) -> str:
    """A path below the workspace, with no folder up to two of them."""
    depth = rng.choices((0, 1, 2), (4, 5, 2))[0]
    folders = [folder_name(rng, split) for _ in range(depth)]
    return "/".join([*folders, file_name(rng, split, suffixes)])
