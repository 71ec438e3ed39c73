"""Sessions in which the model looks: lists, reads, looks up, searches."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from gemma_local.models.message import Value
from gemma_local.models.pocket.train.corpus import workspace
from gemma_local.models.pocket.train.corpus.sample import Sample
from gemma_local.models.pocket.train.corpus.tool_head import Head
from gemma_local.models.pocket.train.corpus.tool_steps import Step, ask, listed, session
from gemma_local.models.pocket.train.corpus.words import (
    Split,
    file_name,
    folder_name,
    identifier,
    made_up,
    path,
    random_letters,
    word,
)


def list_session(
    rng: random.Random,
    split: Split,
    begin: Head,
    files: Sequence[workspace.File] = (),
) -> Sample:
    """The model lists a folder; ``files`` are what the workspace holds, if that is known."""
    if files or rng.random() < 0.45:
        question = ask(rng, split, _LIST_ROOT, _LIST_ROOT_TEST)
        place = "."
        shown, names = workspace.listing(rng, split, place, files)
        report = rng.choice(("There is {}.", "I see {}.")).format(listed(names))
    else:
        place = folder_name(rng, split)
        if rng.random() < 0.3:
            place += f"/{word(rng, split)}"
        question = ask(rng, split, _LIST, _LIST_TEST, folder=place)
        shown, names = workspace.listing(rng, split, place)
        report = rng.choice(("In {} there is {}.", "{} holds {}.")).format(
            f"`{place}`", listed(names)
        )
    return session(
        question, [("list", {"path": place}, shown, "I list the folder.")], report, begin
    )


_LIST_ROOT: Final = """
What files are here?|List the files.|Which files are there?|What is in this folder?|Show me the files.|ls
List this folder.|What do we have here?|Give me a list of the files.|Look around.|What is in the workspace?
Which files are in this project?|Show the workspace.|List everything here.|What does this project contain?
"""
_LIST_ROOT_TEST: Final = """
Which files can you see here?|Tell me what is in this folder.|List the project's files.
"""
_LIST: Final = """
What is in {folder}?|List {folder}.|Which files are in {folder}?|List the files in {folder}.|ls {folder}
Show me the folder {folder}.|What does {folder} contain?|List the folder {folder}.|Look into {folder}.
Which files does {folder} have?|Give me the files of {folder}.|What's inside {folder}?|Show what is in {folder}.
Show me what is in {folder}.|Tell me what is in {folder}.|Let me see {folder}.|What can be found in {folder}?
Open the folder {folder}.|Look around in {folder}.|Name the files in {folder}.|Which files do we have in {folder}?
"""
_LIST_TEST: Final = """
Which files are inside {folder}?|Tell me what {folder} contains.|List what is in {folder}.
"""


def read_session(
    rng: random.Random, split: Split, begin: Head, file: workspace.File | None = None
) -> Sample:
    """The model reads a file, or finds that there is none."""
    is_known = file is not None
    file = file or workspace.any_file(rng, split)
    chance = rng.random()
    call: dict[str, Value] = {"path": file.path}
    limit = 0
    if chance < 0.12:
        limit = rng.choice((1, 2, 3, 5, 10, 20, 50, 100))
        question = ask(rng, split, _READ_SOME, _READ_SOME_TEST, file=file.path, n=str(limit))
        call["limit"] = limit
    else:
        question = ask(rng, split, READ, READ_TEST, file=file.path)
    if chance > 0.93 and not is_known:
        near = path(rng, split, (f".{file.path.rpartition('.')[2]}",))
        missing = rng.choice(_MISSING).format(path=file.path, near=near)
        return session(
            question,
            [("read", call, missing, "I read the file.")],
            f"There is no file `{file.path}`.",
            begin,
        )
    first = next(line for line in file.lines if line)
    report = rng.choice(("`{}` begins with `{}`.", "I read `{}`. Its first line is `{}`."))
    return session(
        question,
        [("read", call, workspace.shown(file, rng, limit), "I read the file.")],
        report.format(file.path, first),
        begin,
    )


_MISSING: Final = (
    "There is no {path}. Use list or search to find it.",
    "There is no {path}. Use list or search to find it.",
    "There is no {path}. Did you mean {near}?",
)
READ: Final = """
Read {file}.|Show me {file}.|What is in the file {file}?|Open {file}.|What does {file} say?|cat {file}
Please read {file}.|Look at {file}.|Show the file {file}.|What's in {file}?|Read the file {file}.
Have a look at {file}.|Print {file}.|Tell me what {file} says.|Check {file}.|How does {file} begin?
Can you read {file}?|I want to see {file}.|Display {file}.|Open {file} and tell me what it says.
Please show me {file}.|Let me see {file}.|Read {file} to me.|Please open {file}.|View {file}.|Give me {file}.
Read {file} and tell me how it starts.|What are the contents of {file}?|Could you read {file}?|Take a look at {file}.
Bring up {file}.|Let us look at {file}.|Let's read {file}.|May I see {file}?|Go through {file}.|I need to see {file}.
Read what is in {file}.|Read the text of {file}.|Quote {file}.|Show us {file}.|Now read {file}.|Load {file}.
"""
READ_TEST: Final = """
Please open {file} and tell me how it begins.|Could you show me {file}?|Read me {file}.
"""
_READ_SOME: Final = """
Read the first {n} lines of {file}.|Show me the first {n} lines of {file}.|Show {n} lines of {file}.
Read {n} lines of {file}.|head -n {n} {file}|What are the first {n} lines of {file}?
Look at the first {n} lines of {file}.
Only show me {n} lines of {file}.|The first {n} lines of {file}, please.|Print {n} lines from the top of {file}.
Give me the first {n} lines of {file}.|Let me see {n} lines of {file}.|Open the first {n} lines of {file}.
"""
_READ_SOME_TEST: Final = "Please show the first {n} lines of {file}.|Read {n} lines from {file}."


def lookup_session(
    rng: random.Random, split: Split, begin: Head, file: workspace.File | None = None
) -> Sample:
    """The model looks up a value in a settings file."""
    file = file or workspace.settings_file(rng, split)
    key, line = rng.choice(file.places)
    found = workspace.value_of(file.lines[line], key)
    question = ask(rng, split, LOOKUP, LOOKUP_TEST, file=file.path, key=key)
    report = rng.choice(("`{}` is {} in `{}`.", "`{}` is set to {} in `{}`."))
    return session(
        question,
        [("read", {"path": file.path}, workspace.shown(file, rng), "I look into the file.")],
        report.format(key, found, file.path),
        begin,
        "The line is there.",
    )


LOOKUP: Final = """
What is {key} in {file}?|What is {key} set to in {file}?|Which value has {key} in {file}?|Look up {key} in {file}.
What value does {key} have in {file}?|Tell me the value of {key} in {file}.|In {file}, what is {key}?
How is {key} set in {file}?|What does {file} say about {key}?|Check {key} in {file}.|Find the value of {key} in {file}.
Say what {key} is in {file}.|I want to know {key} in {file}.|Which value does {file} give {key}?|Show me {key} from {file}.
Look into {file}: what is {key}?|Read {key} from {file}.|What has {file} got for {key}?
"""
LOOKUP_TEST: Final = """
Please tell me what {key} is in {file}.|Which value is given to {key} in {file}?
"""


def search_session(rng: random.Random, split: Split, begin: Head) -> Sample:
    """The model searches for a definition, a name or a text."""
    kind = rng.random()
    call: dict[str, Value]
    if kind < 0.4:
        name = identifier(rng, split)
        is_class = rng.random() < 0.2
        if is_class:
            name = "".join(part.capitalize() for part in name.split("_"))
        pattern = f"class {name}" if is_class else f"def {name}"
        trained = _DEFINED_CLASS if is_class else _DEFINED
        question = ask(rng, split, trained, trained, name=name)
        call = {"pattern": pattern}
        text = f"class {name}:" if is_class else f"def {name}({word(rng, split)}):"
    else:
        name = rng.choice(
            (
                identifier(rng, split),
                identifier(rng, split),
                made_up(rng, split),
                random_letters(rng),
            )
        )
        call = {"pattern": name}
        text = rng.choice((f"{name} = {workspace.value(rng, split)}", f"# {name}", f"    {name}()"))
        if kind < 0.6:
            question = ask(rng, split, _SEARCH, _SEARCH_TEST, name=name)
        elif kind < 0.8:
            place = folder_name(rng, split)
            question = ask(rng, split, _SEARCH_IN, _SEARCH_IN_TEST, name=name, folder=place)
            call["path"] = place
        else:
            glob, files = rng.choice(
                (
                    ("*.py", "Python files"),
                    ("*.md", "Markdown files"),
                    ("*.toml", "TOML files"),
                    ("*.js", "JavaScript files"),
                    ("*.txt", "text files"),
                    ("*.json", "JSON files"),
                )
            )
            question = ask(rng, split, _SEARCH_GLOB, _SEARCH_GLOB_TEST, name=name, files=files)
            call["glob"] = glob
    if rng.random() < 0.12:
        among = f" in {call['glob']}" if "glob" in call else ""
        told = f'No match for "{call["pattern"]}"{among}.'
        told += " [not looked into: ignored, binary, over 5 MB]"
        steps_: list[Step] = [("search", call, told, "I search for it.")]
        return session(question, steps_, f"I found no `{name}`.", begin)
    suffix = "." + str(call["glob"])[2:] if "glob" in call else ".py"
    where = path(rng, split, (suffix,))
    if "path" in call:
        where = f"{call['path']}/{file_name(rng, split, (suffix,))}"
    line = rng.choice((rng.randint(1, 9), rng.randint(10, 99), rng.randint(100, 300)))
    results = [f"{where}:{line}: {text}"]
    if rng.random() < 0.25:
        other = path(rng, split, (suffix,))
        results.append(f"{other}:{rng.randint(1, 200)}: # {name}")
        report = f"`{name}` is in `{where}`, line {line}, and in `{other}`."
    else:
        report = f"`{name}` is in `{where}`, line {line}."
    count = len(results)
    matches, files = ("match", "file") if count == 1 else ("matches", "files")
    results.append(f"[{count} {matches} in {count} {files}]")
    return session(
        question, [("search", call, "\n".join(results), "I search for it.")], report, begin
    )


_DEFINED: Final = """
Where is {name} defined?|Find the definition of {name}.|Where is the function {name} defined?|Which file defines {name}?
Where do we define {name}?|In which file is {name} defined?|Locate the function {name}.|Where is def {name}?
Find the function {name}.|Show me where {name} is defined.
Tell me where {name} is defined.|Find the place where {name} is defined.|Who defines {name}?|Show the definition of {name}.
Search for the definition of {name}.|Look up where {name} is defined.|Where does the function {name} live?
"""
_DEFINED_CLASS: Final = """
Where is the class {name} defined?|Find the class {name}.|Which file defines the class {name}?|Where is class {name}?
Locate the class {name}.|In which file is the class {name}?
"""
_SEARCH: Final = """
Search for {name}.|Find {name}.|Where is {name} used?|grep {name}|Which files mention {name}?|Look for {name}.
Search the project for {name}.|Where does {name} occur?|Find all uses of {name}.|Where do we use {name}?
Is {name} used anywhere?|Search {name}|Find every place with {name}.|Who calls {name}?|Which files use {name}?
In which file is {name}?|In what files is {name} used?|Please find {name}.|Please look for {name}.|Find the places where {name} is used.
See where {name} turns up.|Show me all places with {name}.|Look where {name} is.|Search everything for {name}.
Tell me where {name} is used.|Find out who uses {name}.|Find out where {name} occurs.|Check where we use {name}.
"""
_SEARCH_TEST: Final = (
    "Please search for {name}.|In which files does {name} occur?|Find where {name} is used."
)
_SEARCH_IN: Final = """
Search for {name} in {folder}.|Find {name} in {folder}.|Where is {name} used in {folder}?|grep {name} in {folder}
Look for {name} in the folder {folder}.|Which files in {folder} mention {name}?|Search {folder} for {name}.
Does {name} occur in {folder}?|Please look through {folder} for {name}.|Find out where {folder} uses {name}.
Look in {folder} for {name}.|Is {name} in {folder}?|Find {name} within {folder}.|Please find {name} in {folder}.
In {folder}, search for {name}.|Where in {folder} is {name}?
Find out who in {folder} uses {name}.|Show me where {name} stands in {folder}.|Tell me where {name} is in {folder}.
Look where {folder} mentions {name}.|Check {folder} for {name}.|Let me see where {name} is used within {folder}.
Does anything in {folder} use {name}?|Find uses of {name} in {folder}.|Find all places in {folder} with {name}.
"""
_SEARCH_IN_TEST: Final = "Please search {folder} for {name}.|Find where {name} is used in {folder}."
_SEARCH_GLOB: Final = """
Search for {name} in {files}.|Find {name} in all {files}.|Which {files} mention {name}?|Look for {name} in the {files}.
Search the {files} for {name}.|grep {name} in {files}|Where is {name} used in the {files}?
In what {files} is {name} used?|Please look through the {files} for {name}.|In the {files}, find {name}.|Which of the {files} use {name}?
Check the {files} for {name}.|Does {name} stand in any of the {files}?|Find {name}, but only in {files}.|Look through {files} for {name}.
Find out which {files} have {name}.|Tell me which {files} use {name}.|Only in {files}: where is {name}?
"""
_SEARCH_GLOB_TEST: Final = (
    "Please search all {files} for {name}.|In which {files} does {name} occur?"
)
