"""What the pocket guide does not know, and how it says so."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

from gemma_local.models.pocket.train.corpus.sample import Sample, said, user
from gemma_local.models.pocket.train.corpus.wordings import politely, reworded
from gemma_local.models.pocket.train.corpus.words import (
    ADJECTIVES,
    CITIES,
    KNOWN_TERMS,
    NOUNS,
    PEOPLE,
    VERBS,
    Split,
    made_up,
    mostly_first,
    pick,
)

ADMISSIONS: Final = (
    "I am only the small built-in guide and don't know that; `gemma-local models get E4B` fetches a real model.",
    "That is beyond me: I am the small built-in guide. Get a real model with `gemma-local models get E4B`.",
    "I don't know that. I am just the built-in guide; a real model comes with `gemma-local models get E4B`.",
    "The small built-in guide cannot answer that. A real model can: `gemma-local models get E4B`.",
)
MUST: Final = ("built-in guide", "models get")

_DISHES: Final = (
    """
pasta|an egg|rice|pancakes|a risotto|bread|goulash|a curry|lentil soup|sushi|a cheesecake|dumplings|tacos
ratatouille|a roast chicken|tofu|pizza dough|paella|an omelette|hummus|a salad|fried fish|apple pie|coffee
""".strip()
    .replace("\n", "|")
    .split("|")
)
_THINGS: Final = (
    """
photosynthesis|gravity|a black hole|inflation|democracy|DNA|an atom|the moon|the sun|rain|a volcano|love
electricity|evolution|a virus|the stock market|a vaccine|climate change|quantum physics|a rainbow|chess
the speed of light|a glacier|an eclipse|the big bang|a comet|jazz|baroque music|impressionism|football
the offside rule|tennis|a haiku|a sonnet|the subjunctive|irony|a metaphor|communism|the euro|a mortgage
a tax return|blood pressure|insulin|a migraine|yoga|meditation|astrology|the ozone layer|a tsunami
""".strip()
    .replace("\n", "|")
    .split("|")
)
_PERSONS: Final = (
    """
Napoleon|Einstein|Mozart|Shakespeare|Cleopatra|Marie Curie|Newton|Picasso|Gandhi|Caesar|Beethoven|Darwin
the president of France|the king of Spain|the Pope|Goethe|Kafka|Plato|Socrates|Leonardo da Vinci|Tesla
Elvis|Madonna|the inventor of the telephone|the first man on the moon|Galileo|Columbus|Marco Polo
""".strip()
    .replace("\n", "|")
    .split("|")
)
_COUNTRIES: Final = (
    """
France|Germany|Japan|Brazil|Kenya|India|Canada|Peru|Spain|Norway|Egypt|China|Mexico|Italy|Poland|Chile
Australia|Vietnam|Turkey|Greece|Sweden|Portugal|Ireland|Austria|Switzerland|Argentina|Nigeria|Iceland
""".strip()
    .replace("\n", "|")
    .split("|")
)
_ANIMALS: Final = (
    """
cats|dogs|elephants|whales|bees|spiders|penguins|horses|snakes|eagles|ants|dolphins|foxes|bears|owls|frogs
""".strip()
    .replace("\n", "|")
    .split("|")
)
_LANGUAGES: Final = (
    """
Java|C++|Rust|Go|JavaScript|TypeScript|Haskell|Ruby|PHP|Perl|C#|Swift|Kotlin|Fortran|COBOL|Lisp|SQL|Bash
Scala|Elixir|assembly|R|Julia|Lua|HTML|CSS|Erlang|Pascal|Zig|OCaml
""".strip()
    .replace("\n", "|")
    .split("|")
)
_HUMAN: Final = (
    "Spanish|French|German|Italian|Latin|Japanese|Chinese|Russian|Arabic|Dutch|Greek|Polish|Turkish|Hindi"
).split("|")
_TASKS: Final = (
    """
a quicksort|a web server|a hash map|a linked list|a compiler|a game of snake|a calculator|a chat server
hello world|a parser|a todo app|a binary tree|a REST API|a login form|a regex engine|a thread pool
""".strip()
    .replace("\n", "|")
    .split("|")
)
_TEXTS: Final = (
    """
a poem|a story|a song|a joke|an essay|a love letter|a speech|a novel|a limerick|a fairy tale|a riddle
a cover letter|a blog post|a rap|a screenplay|a diary entry|a business plan|a review|a recipe
""".strip()
    .replace("\n", "|")
    .split("|")
)
_ACTIVITIES: Final = (
    """
lose weight|learn to swim|fix my bike|change a tyre|tie a tie|plant tomatoes|train a dog|play the guitar
meditate|get rich|sleep better|stop smoking|clean a carpet|paint a wall|make friends|find a job|knit a scarf
file my taxes|get a visa|write a will|buy a house|cut my hair|build a shed|fly a kite|bake a cake|run faster
remove a stain|treat a cold|grow roses|ski|catch a fish|sail a boat|fold a paper plane|whistle|juggle
""".strip()
    .replace("\n", "|")
    .split("|")
)

_NOUNS: Final = [word for word in NOUNS if word not in KNOWN_TERMS]
_VERBS: Final = [word for word in VERBS if word not in KNOWN_TERMS]

_TEMPLATES: Final = (
    """
How do I cook {dish}?|What is the recipe for {dish}?|How long does {dish} take in the oven?
Give me a recipe for {dish}.|What goes well with {dish}?|Is {dish} healthy?|How many calories has {dish}?
What is {thing}?|Explain {thing}.|How does {thing} work?|Tell me about {thing}.|Why does {thing} exist?
What do you think about {thing}?|Who discovered {thing}?|When did {thing} begin?|What causes {thing}?
Explain {thing} to a child.|Is {thing} dangerous?|What is the history of {thing}?|What does {thing} mean?
Who was {person}?|When was {person} born?|What did {person} do?|Tell me about {person}.|Is {person} alive?
Where did {person} live?|How old is {person}?|Why is {person} famous?|Who is {person}?
What is the capital of {country}?|How many people live in {country}?|What language is spoken in {country}?
What is the currency of {country}?|Who won the war in {country}?|What should I see in {country}?
How large is {country}?|When was {country} founded?|Who governs {country}?|Is {country} in Europe?
What is the weather in {city}?|Will it rain in {city} tomorrow?|How do I get to {city}?|What time is it in {city}?
Recommend a restaurant in {city}.|Book a flight to {city}.|How far is it from {city} to {city2}?
How high is the tower in {city}?|Which river flows through {city}?|Find me a hotel in {city}.
Why do {animals} sleep so much?|What do {animals} eat?|How long do {animals} live?|Are {animals} clever?
How fast are {animals}?|Can {animals} swim?|Where do {animals} live?|How many teeth do {animals} have?
Write {task} in {language}.|How do I write {task} in {language}?|Show me {task} in {language}.
Is {language} faster than {language2}?|Teach me {language}.|What is {language}?|Convert this to {language}.
How do I install {language}?|Write a {language} program.|Why is {language} so popular?
Translate this into {human}.|How do you say {noun} in {human}?|Translate "{noun}" to {human}.|Do a {human} exam.
Write {text} about {noun}.|Write {text} about {animals}.|Write me {text}.|Tell me {text}.|Compose {text} for {name}.
How do I {activity}?|How can I {activity}?|Teach me to {activity}.|I want to {activity}.|Why should I {activity}?
What do I need to {activity}?|Is it hard to {activity}?|How long does it take to {activity}?
What is {n} times {m}?|What is {n} plus {m}?|Compute {n} * {m}.|What is the square root of {n}?|{n}+{m}
Solve x + {n} = {m}.|Is {n} a prime number?|What is {n} percent of {m}?|Divide {n} by {m}.|What is {n} - {m}?
Prove that there are infinitely many primes.|What is the derivative of x^{n}?|Integrate x^{n}.
What is the news today?|What day is it?|What time is it?|Who won the match yesterday?|What is the date?
What is the meaning of life?|Do you love me?|Are you happy?|Do you dream?|What do you feel?|Sing a song.
Should I marry {name}?|What is my name?|Where do I live?|What did I eat yesterday?|What is the best film?
Recommend a book.|Recommend a film about {noun}.|Who wrote {Made}?|What is {made}?|Where is {Made}?
What is a {made}?|Explain {made} {made2}.|{made} {made2} {made3}|{Made}?|{made}|Tell me about {Made}.
How do I {verb} a {made}?|What does {made} mean?|Who is {Made} {Made2}?|What is the {adjective} {noun}?
What is a {noun}?|How do I {verb} a {noun}?|Where can I buy a {noun}?|Why is my {noun} {adjective}?
What does a {noun} cost?|How do I repair a {noun}?|Which {noun} is the best?|Tell me about the {noun}.
Is the {noun} {adjective}?|Draw a {noun}.|Who invented the {noun}?|How heavy is a {noun}?|Sell my {noun}.
What is the difference between a {noun} and a {noun2}?|Compare {animals} and {dish}.|Describe a {adjective} {noun}.
My {noun} hurts. What should I do?|Is {dish} good for {animals}?|How many {noun}s are there in {country}?
What does the {noun} of {country} look like?|Call {name}.|Send an email to {name}.|Set an alarm for {n} o'clock.
Turn on the lamp.|Play some music.|Order {dish} for me.|Remind me to {activity}.|What is the price of {noun}s?
How do I deploy to kubernetes?|How do I use docker?|Explain git rebase.|What is a monad?|How do I centre a div?
Write a React component for a {noun}.|Fix my {language} code.|What is wrong with my {noun}?|Hack the {noun}.
What is the {thing} of {country}?|Which team does {person} play for?|Who is taller, {name} or {name2}?
Give me ten ideas for {noun}s.|Give me advice.|What should I wear today?|Guess my age.|Predict the future.
Summarise the novel by {person}.|What is your favourite {noun}?|Do you like {dish}?|Have you been to {city}?
What is the opposite of {adjective}?|Give me a synonym of {adjective}.|Spell {made}.|Rhyme with {noun}.
What does the {made} option do?|What does --{made} do?|What does /{made} do?|Which key makes {dish}?
How do I fetch {dish}?|How do I download {person}?|What does {adjective} mean?|How do I stop {animals}?
Which command cooks {dish}?|Where are the {animals} stored?|How do I install {thing}?|What is {made} mode?
How do I switch off the {noun} in {city}?|How large is {thing}?|How do I save {animals}?|Explain the {noun} theory.
I am bored.|I am hungry.|My {noun} is {adjective}.|It is raining in {city}.|Let's play a game.|You are {adjective}.
Tell me something interesting.|I had a bad day.|What shall we talk about?|Do you know any jokes?|Can you drive a {noun}?
I like {dish}.|I hate {animals}.|{name} is my friend.|{name} likes {thing}.|I was in {country} last year.|I am {n} years old.
Which spice is in {dish}?|Name five {animals}.|List the rivers of {country}.|In which year was {thing} invented?
Who said that {animals} are {adjective}?|What would you do with {n} euros?|Can {person} dance?|Was {person} right?
How many {noun}s fit into a {noun2}?|What colour has {thing}?|Do {animals} have a {noun}?|Is {city} larger than {city2}?
Plan a trip to {country}.|Make a plan for my {noun}.|Make up a story about {made}.|Tips for {thing}?|Convert {n} feet to metres.
Implement {task} in {language}.|{task} in {language}, please|Say good night in {human}.|How is {noun} spelled in {human}?
The {noun} of {name} is {adjective}.|A {adjective} {noun} and a {noun2}.|{noun} {noun2} {made}|Let us discuss {thing}.
""".strip()
    .replace("\n", "|")
    .split("|")
)
_HELD_OUT_TEMPLATES: Final = (
    """
Could you teach me about {thing}?|Which spices belong into {dish}?|Whose idea was {thing}?|In what year did {person} die?
Name three lakes in {country}.|Do {animals} see colours?|Implement {task} using {language}, please.
What would {person} say about {thing}?|Sum the numbers {n} and {m}.|Plan a weekend in {city}.
Give me tips to {activity}.|My friend {name} wants to {activity}.|Make up {text} with a {adjective} {noun}.
How is {made} spelled?|Let us talk about {made}.|What colour is a {noun}?|I feel sad.|Is it true that {animals} fly?
Who painted the {noun}?|What happened in {country} in 1{n}?|Which bus goes to {city}?|Convert {n} miles to kilometres.
How do I say good morning in {human}?|Describe {city} in the {adjective} season.|What did {name} tell you about {made}?
""".strip()
    .replace("\n", "|")
    .split("|")
)

_BY_HAND: Final = 0.6
"""The share of whole questions; the rest is put together, with words that do not exist among them."""
_BEFORE: Final = (
    "",
    "",
    "",
    "",
    "",
    "",
    "Hi, ",
    "Please: ",
    "Hey, ",
    "OK, ",
    "Quick question: ",
    "And ",
)


def sample(rng: random.Random, split: Split) -> Sample:
    """A question that is none of the guide's business, and the admission."""
    thought = rng.choice(
        (
            "This is not about gemma-local. I don't know it.",
            "I know nothing of this, so I say so.",
            "This is outside of what I know.",
        )
    )
    return Sample(
        "off_ground",
        (user(question(rng, split)), said(mostly_first(ADMISSIONS, rng), thought)),
        judged_by={"must": MUST},
    )


def question(rng: random.Random, split: Split) -> str:
    """Something off the guide's ground."""
    test = split == "test"
    if test:
        text = rng.choice(_HELD_OUT_TEMPLATES)
    elif rng.random() < _BY_HAND:
        text = rng.choice(_questions())
    else:
        text = rng.choice(_TEMPLATES)
    for name, choose in _SLOTS.items():
        while f"{{{name}}}" in text:
            text = text.replace(f"{{{name}}}", choose(rng, split), 1)
    if not test:
        text = rng.choice(_BEFORE) + reworded(
            politely(text, rng) if rng.random() < 0.3 else text, rng
        )
        if rng.random() < 0.2:
            text = text[0].lower() + text[1:]
        if rng.random() < 0.15:
            text = text.rstrip("?.")
    return text


@cache
def _questions() -> tuple[str, ...]:
    """Whole ones, written by hand."""
    text = Path(__file__).with_name("off_ground.txt").read_text("utf-8")
    return tuple(line for line in text.splitlines() if line and not line.startswith("#"))


def _from(words: list[str]) -> Callable[[random.Random, Split], str]:
    def choose(rng: random.Random, split: Split) -> str:
        # In training a word of one's own stands in now and then: what is unknown has no list.
        if split == "train" and rng.random() < 0.25:
            return made_up(rng, split)
        return pick(rng, words, split)

    return choose


def _number(rng: random.Random, _split: Split) -> str:
    return str(rng.choice((rng.randint(2, 20), rng.randint(10, 99), rng.randint(100, 9999))))


def _proper(rng: random.Random, split: Split) -> str:
    return made_up(rng, split).capitalize()


_SLOTS: Final[dict[str, Callable[[random.Random, Split], str]]] = {
    "dish": _from(_DISHES),
    "thing": _from(_THINGS),
    "person": _from(_PERSONS),
    "country": _from(_COUNTRIES),
    "city": _from(CITIES),
    "city2": _from(CITIES),
    "animals": _from(_ANIMALS),
    "language": _from(_LANGUAGES),
    "language2": _from(_LANGUAGES),
    "human": _from(_HUMAN),
    "task": _from(_TASKS),
    "text": _from(_TEXTS),
    "activity": _from(_ACTIVITIES),
    "noun": _from(_NOUNS),
    "noun2": _from(_NOUNS),
    "verb": _from(_VERBS),
    "adjective": _from(ADJECTIVES),
    "name": _from(PEOPLE),
    "name2": _from(PEOPLE),
    "n": _number,
    "m": _number,
    "made": made_up,
    "made2": made_up,
    "made3": made_up,
    "Made": _proper,
    "Made2": _proper,
}
