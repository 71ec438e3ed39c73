"""The same in other words: what is asked for in one word can be asked for in another."""

from __future__ import annotations

import random
import re
from functools import cache
from typing import Final

GENERAL: Final = """
show: display|bring up|let me see
see: view|look at|have a look at
look at: see|view|check
change: switch|alter|modify|set
switch to: change to|go over to|move to
stop: halt|interrupt|abort|cancel|end
cancel: abort|stop|break off
interrupt: stop|cut off|halt
delete: remove|erase|get rid of|throw away
remove: delete|get rid of|erase
find: locate|look up|search for|look for
search for: look for|find|hunt for
search: look through|go through|comb
start: begin|launch|open
begin: start|open
open: start|bring up|get to
fetch: download|get|pull
download: fetch|get|pull
choose: pick|select|take
pick: choose|select
save: keep|store
stored: kept|saved|written
kept: stored|saved
conversation: chat|dialogue|talk|discussion
conversations: chats|talks|dialogues
chat: conversation|talk
answer: reply|response
answers: replies|responses
message: input|question
memory: RAM
faster: quicker|speedier
fast: quick|speedy
slow: sluggish
large: big|long
big: large
small: little|tiny
smallest: tiniest
machine: computer|laptop|PC|system
computer: machine|PC
disk: hard drive|drive
program: app|application|tool
folder: directory
write: type|enter
type: write|enter
list: show|name|print
limit: cap|restrict|bound
turn on: switch on|enable|activate
switch on: turn on|enable
turn off: switch off|disable|deactivate
turning off: switching off|disabling
switch off: turn off|disable
disable: turn off|switch off|get rid of
go back to: return to|get back to
go on with: continue|carry on with|pick up
continue: go on with|carry on with
earlier: previous|old|former
last: latest|most recent
new: fresh|another
clipboard: copy buffer
colours: colors|look
key: button|shortcut
keys: shortcuts|buttons
thoughts: thinking|reasoning|inner monologue
thinking: reasoning|thoughts
drafted: proposed|guessed
drafting: speculation|speculative decoding
need: require|have to have
use: work with|try|employ
damaged: broken|corrupt
network: internet|connection
internet: network|web
offline: without internet|without a network
private: confidential|secret
happens: goes on|comes about
shorten: cut|trim
correct: fix|repair
check: verify|test|make sure of
repeat: redo|say again
exit: leave|quit|get out of
quit: leave|exit|close
leave: quit|exit
explain: describe|clarify
""".strip()
"""What can stand for a word in a question about the program."""

CODE: Final = """
returns: gives|computes|yields|gets|produces|gives back
gives: returns|yields|gets
computes: calculates|works out|determines|returns
calculates: computes|works out|determines
checks whether: tells whether|tests whether|determines whether|finds out if
checks if: tells if|tests if|finds out whether|says whether
tells whether: checks whether|says whether|decides whether
tests if: checks if|tells if|decides if
finds: gets|determines|returns|looks for
largest: biggest|greatest|highest
biggest: largest|greatest|highest
smallest: lowest|least
list: sequence|collection
text: string|sentence
string: text|str
strings: texts
number: value|num
numbers: values|integers|nums
items: elements|entries|values
item: element|value|member
removes: drops|deletes|strips|eliminates|takes away
drops: removes|deletes|discards
counts: tallies|determines
sums: totals|adds up
adds up: sums|totals
dictionary: dict|mapping
dict: dictionary|mapping
turns: converts|transforms|changes
converts: turns|transforms|changes
keeps: leaves|retains|selects
joins: combines|concatenates|puts together
combines: joins|merges
splits: cuts|divides|breaks
reverses: flips|turns around
sorts: orders|arranges
each: every|each single
every: each
how often: how many times
two: 2
""".strip()
"""What can stand for a word in the description of a function."""

_SHARE: Final = 0.25
_IMPERATIVES: Final = frozenset(
    """read show open print check display look list give search find locate set change make update
    edit put switch rename call replace create write save run execute start test note plan tell
    have repair fix""".split()
)
_POLITE: Final = (
    *("Please {x}.", "Can you {x}?", "Could you {x}?", "Would you {x}?", "I want you to {x}."),
    *("I'd like you to {x}.", "Let's {x}.", "Just {x}.", "Can you please {x}?", "Next, {x}."),
    *("Then {x}.", "First {x}.", "I need you to {x}.", "You should {x}.", "Go and {x}."),
)


def politely(text: str, rng: random.Random) -> str:
    """An order in one of many forms; what is none stays as it is."""
    first, _, rest = text.rstrip(".").partition(" ")
    if first.lower() not in _IMPERATIVES or not rest or not text.endswith("."):
        return text
    return rng.choice(_POLITE).format(x=f"{first.lower()} {rest}")


def reworded(text: str, rng: random.Random, table: str = GENERAL) -> str:
    """``text`` with some of its words replaced by others that mean the same there."""
    known, pattern = _known(table)

    def chosen(found: re.Match[str]) -> str:
        word = found[0]
        if rng.random() >= _SHARE:
            return word
        other = rng.choice(known[word.lower()])
        return other[0].upper() + other[1:] if word[0].isupper() else other

    return pattern.sub(chosen, text)


_SMALL: Final = frozenset(
    "how do i the a an to is are what does can my in of it with for you me that this which would".split()
)
_FILLERS: Final = (
    *("please", "really", "actually", "just", "maybe", "then", "exactly", "somehow", "again"),
    *("here", "now", "simply", "quickly", "for me", "possibly", "usually", "anyway", "at all"),
)


def carelessly(text: str, rng: random.Random) -> str:
    """``text`` as somebody in a hurry may put it: without a small word, with one that says nothing,
    or with two letters in the wrong order."""
    words = text.split(" ")
    chance = rng.random()
    if chance < 0.5:
        small = [n for n, word in enumerate(words) if word.lower() in _SMALL]
        if small and len(words) > 3:
            del words[rng.choice(small)]
    elif chance < 0.8:
        words.insert(rng.randint(1, len(words)), rng.choice(_FILLERS))
    else:
        long = [n for n, word in enumerate(words) if word.isalpha() and len(word) > 4]
        if long:
            at = rng.choice(long)
            word, swapped = words[at], rng.randrange(1, len(words[at]) - 2)
            letters = word[swapped + 1] + word[swapped]
            words[at] = word[:swapped] + letters + word[swapped + 2 :]
    return " ".join(words)


@cache
def _known(table: str) -> tuple[dict[str, tuple[str, ...]], re.Pattern[str]]:
    """Words by what can stand for them, and what finds one that is no part of a command or name."""
    known = {}
    for line in table.split("\n"):
        word, _, others = line.partition(": ")
        known[word] = tuple(others.split("|"))
    words = "|".join(sorted(map(re.escape, known), key=len, reverse=True))
    return known, re.compile(rf"(?<![\w/`.+{{-])(?:{words})(?![\w/`+-]|\.\w)", re.IGNORECASE)
