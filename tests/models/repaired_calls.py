"""Misspelled calls that were seen from real models and can be read in one way only."""

from __future__ import annotations

from typing import Any

from tests.models.called_tools import CLOSE, EMPTY, OPEN, WINDOWS, Q

# id: (stream, tool, arguments). Sources are named by project and number.
REPAIRED: dict[str, tuple[str, str, dict[str, Any]]] = {
    "round brackets (vllm#53642)": (
        f"{OPEN}call:terminal(command:{Q}ls -a{Q}){CLOSE}",
        "terminal",
        {"command": "ls -a"},
    ),
    "round brackets with = (omlx#1846)": (
        f"{OPEN}call:read(path={Q}a.py{Q}, limit=20){CLOSE}",
        "read",
        {"path": "a.py", "limit": 20},
    ),
    "python call": (
        f"{OPEN}call:read(path='a.py', limit=20, raw=True, offset=None){CLOSE}",
        "read",
        {"path": "a.py", "limit": 20, "raw": True},
    ),
    "value without a key": (
        f'{OPEN}call:read("src/a.py"){CLOSE}',
        "read",
        {"path": "src/a.py"},
    ),
    "first value without a key": (
        f"{OPEN}call:read({Q}src/a.py{Q}, limit=3){CLOSE}",
        "read",
        {"path": "src/a.py", "limit": 3},
    ),
    "object in round brackets": (
        f'{OPEN}call:read({{"path": "a.py"}}){CLOSE}',
        "read",
        {"path": "a.py"},
    ),
    "bare opener (vllm#53431)": (
        f"{OPEN}:search_files{{pattern:{Q}.env.example{Q},target:{Q}files{Q}}}{CLOSE}",
        "search_files",
        {"pattern": ".env.example", "target": "files"},
    ),
    "missing call: (vllm#53431)": (
        f"{OPEN}read{{path:{Q}a.py{Q}}}{CLOSE}",
        "read",
        {"path": "a.py"},
    ),
    "namespaced without call: (mlx-vlm#1459)": (
        f"{OPEN}mcp.calendar:list_events{{limit:5}}{CLOSE}",
        "mcp.calendar:list_events",
        {"limit": 5},
    ),
    "json quotes in a list (vllm#51284)": (
        f'{OPEN}call:query{{data_refs:["ds_152a4bfd970b4313"]}}{CLOSE}',
        "query",
        {"data_refs": ["ds_152a4bfd970b4313"]},
    ),
    "python quotes in a list (vllm#51284)": (
        f"{OPEN}call:query{{data_refs:['ds_152a4bfd970b4313','b']}}{CLOSE}",
        "query",
        {"data_refs": ["ds_152a4bfd970b4313", "b"]},
    ),
    "json quotes in an object (vllm#51284)": (
        f'{OPEN}call:query{{data_refs:[1],opts:{{"mode": "fast", "n": 2}}}}{CLOSE}',
        "query",
        {"data_refs": [1], "opts": {"mode": "fast", "n": 2}},
    ),
    "= for : (vllm#51307)": (
        f"{OPEN}call:read{{path={Q}a.py{Q},limit=3}}{CLOSE}",
        "read",
        {"path": "a.py", "limit": 3},
    ),
    "quoted keys (vllm-mlx#267)": (
        f"{OPEN}call:read{{{Q}path{Q}:{Q}a.py{Q}}}{CLOSE}",
        "read",
        {"path": "a.py"},
    ),
    "json keys and values": (
        f'{OPEN}call:edit{{"path": "a.py", "old": "x", "new": "say \\"hi\\""}}{CLOSE}',
        "edit",
        {"path": "a.py", "old": "x", "new": 'say "hi"'},
    ),
    "quotes inside a json string (vllm#39069)": (
        f'{OPEN}call:terminal{{command:"git commit -m "first try" -q"}}{CLOSE}',
        "terminal",
        {"command": 'git commit -m "first try" -q'},
    ),
    "single quotes (ollama#15374)": (
        f"{OPEN}call:terminal{{command:'echo hi'}}{CLOSE}",
        "terminal",
        {"command": "echo hi"},
    ),
    "triple quotes": (
        f'{OPEN}call:write_file{{path:"a",content:"""x = "1"\ny"""}}{CLOSE}',
        "write_file",
        {"path": "a", "content": 'x = "1"\ny'},
    ),
    "escaped quotes as quotes (ollama#15374)": (
        f'{OPEN}call:terminal{{command:\\"ls\\"}}{CLOSE}',
        "terminal",
        {"command": "ls"},
    ),
    "bare strings (vllm#47906)": (
        f"{OPEN}call:read{{path:src/main.py,limit:30}}{CLOSE}",
        "read",
        {"path": "src/main.py", "limit": 30},
    ),
    "raw terminal string (ollama#15374)": (
        f'{OPEN}call:terminal{{command:grep -rn "two words" src | head -n 3}}{CLOSE}',
        "terminal",
        {"command": 'grep -rn "two words" src | head -n 3'},
    ),
    "bare string with brackets and commas": (
        f"{OPEN}call:terminal{{command:echo ${{HOME}} a, b}}{CLOSE}",
        "terminal",
        {"command": "echo ${HOME} a, b"},
    ),
    "missing closing quote (ollama#15374)": (
        f"{OPEN}call:terminal{{command:{Q}ls -la}}{CLOSE}",
        "terminal",
        {"command": "ls -la"},
    ),
    "missing closing quote in a list": (
        f"{OPEN}call:query{{data_refs:[{Q}a{Q},{Q}b]}}{CLOSE}",
        "query",
        {"data_refs": ["a", "b"]},
    ),
    "missing opening quote (ollama#15374)": (
        f"{OPEN}call:read{{path:src/a.py{Q},limit:3}}{CLOSE}",
        "read",
        {"path": "src/a.py", "limit": 3},
    ),
    "missing } (ollama#15374)": (
        f"{OPEN}call:read{{path:{Q}a.py{Q}{CLOSE}",
        "read",
        {"path": "a.py"},
    ),
    "missing ] and }": (
        f"{OPEN}call:query{{data_refs:[{Q}a{Q},{Q}b{Q}{CLOSE}",
        "query",
        {"data_refs": ["a", "b"]},
    ),
    "missing closing quote and }": (
        f"{OPEN}call:read{{path:{Q}a.py{CLOSE}",
        "read",
        {"path": "a.py"},
    ),
    "missing end marker (ollama#15374)": (
        f"{OPEN}call:read{{path:{Q}a.py{Q}}}",
        "read",
        {"path": "a.py"},
    ),
    "missing } and end marker": (
        f"{OPEN}call:read{{path:{Q}a.py{Q}",
        "read",
        {"path": "a.py"},
    ),
    "one } too many": (
        f"{OPEN}call:read{{path:{Q}a.py{Q}}}}}{CLOSE}",
        "read",
        {"path": "a.py"},
    ),
    "doubled braces (April template)": (
        f'{OPEN}call:read{{{{"path": "x"}}}}{CLOSE}',
        "read",
        {"path": "x"},
    ),
    "no braces": (f"{OPEN}call:status{CLOSE}", "status", {}),
    "trailing comma": (
        f"{OPEN}call:read{{path:{Q}a.py{Q},}}{CLOSE}",
        "read",
        {"path": "a.py"},
    ),
    "two commas": (
        f"{OPEN}call:read{{,path:{Q}a.py{Q},,limit:3}}{CLOSE}",
        "read",
        {"path": "a.py", "limit": 3},
    ),
    "one bracket for another": (
        f"{OPEN}call:read(path:{Q}a.py{Q}}}{CLOSE}",
        "read",
        {"path": "a.py"},
    ),
    "tuple for a list": (
        f"{OPEN}call:query{{data_refs:({Q}a{Q},b)}}{CLOSE}",
        "query",
        {"data_refs": ["a", "b"]},
    ),
    "string that begins with another quote than it ends with": (
        f'{OPEN}call:read{{path:"a.py{Q},limit:3}}{CLOSE}',
        "read",
        {"path": "a.py", "limit": 3},
    ),
    "missing closing quote of json": (
        f'{OPEN}call:read{{path:"src/a.py}}{CLOSE}',
        "read",
        {"path": "src/a.py"},
    ),
    "spelled quote token": (
        f"{OPEN}call:read{{path:\u0001a \\ b.py\u0001}}{CLOSE}",
        "read",
        {"path": "a \\ b.py"},
    ),
    "quoted name": (f'{OPEN}call:"read"{{path:{Q}a{Q}}}{CLOSE}', "read", {"path": "a"}),
    "name between quote tokens": (
        f"{OPEN}call:{Q}read{Q}{{path:{Q}a{Q}}}{CLOSE}",
        "read",
        {"path": "a"},
    ),
    "json without arguments": (
        f'{OPEN}{{"name": "status", "arguments": null}}{CLOSE}',
        "status",
        {},
    ),
    "backslashes that json does not have": (
        f'{OPEN}call:terminal{{command:"grep \\d \\"x\\""}}{CLOSE}',
        "terminal",
        {"command": 'grep \\d "x"'},
    ),
    "missing comma": (
        f"{OPEN}call:read{{path:{Q}a.py{Q} limit:3}}{CLOSE}",
        "read",
        {"path": "a.py", "limit": 3},
    ),
    "thought markers inside the call": (
        f"{OPEN}<|channel>thought\nhm<channel|>call:read{{path:{Q}a.py{Q}}}{CLOSE}",
        "read",
        {"path": "a.py"},
    ),
    "empty thought behind the brackets": (
        f"{OPEN}call:read{{path:{Q}a.py{Q}}}<|channel>thought\n<channel|>{CLOSE}",
        "read",
        {"path": "a.py"},
    ),
    "unclosed thought marker inside the call": (
        f"{OPEN}<|channel>call:read{{path:{Q}a.py{Q}}}{CLOSE}",
        "read",
        {"path": "a.py"},
    ),
    "thought inside the call that a second call marker ends": (
        f"{OPEN}<|channel>thought\nhm<turn|>{OPEN}call:read{{path:{Q}a.py{Q}}}{CLOSE}",
        "read",
        {"path": "a.py"},
    ),
    "stray end of thought inside the call": (
        f"{OPEN}<channel|>call:read{{path:{Q}a.py{Q}}}{CLOSE}",
        "read",
        {"path": "a.py"},
    ),
    "doubled call marker": (
        f"{OPEN}{OPEN}call:read{{path:{Q}a.py{Q}}}{CLOSE}{CLOSE}",
        "read",
        {"path": "a.py"},
    ),
    "words and an empty thought before the call (vllm#53431)": (
        f"{OPEN}- starting-overview\n{EMPTY}{OPEN}:todo{{todos:[{{text:{Q}a{Q}}}]}}{CLOSE}",
        "todo",
        {"todos": [{"text": "a"}]},
    ),
    "BEGIN_ARG and END_ARG (ollama#18275)": (
        f"{OPEN}call:terminal:\nBEGIN_ARG:\n{EMPTY}ls\nEND_ARG\n{EMPTY}{CLOSE}",
        "terminal",
        {"command": "ls"},
    ),
    "json object in call markers (opencode#7083)": (
        f'{OPEN}{{"name": "read", "arguments": {{"path": "a.py", "limit": 2}}}}{CLOSE}',
        "read",
        {"path": "a.py", "limit": 2},
    ),
    "json with arguments as text": (
        f'{OPEN}{{"name": "read", "arguments": "{{\\"path\\": \\"a.py\\"}}"}}{CLOSE}',
        "read",
        {"path": "a.py"},
    ),
    "json in the form of an api": (
        f'{OPEN}{{"function": {{"name": "read", "parameters": {{"path": "a.py"}}}}}}{CLOSE}',
        "read",
        {"path": "a.py"},
    ),
    "windows path in json quotes": (
        f'{OPEN}call:read{{path:"{WINDOWS}"}}{CLOSE}',
        "read",
        {"path": WINDOWS},
    ),
    "windows path in json quotes, escaped": (
        f'{OPEN}call:read{{path:"C:\\\\Users\\\\new"}}{CLOSE}',
        "read",
        {"path": r"C:\Users\new"},
    ),
    "windows folder that ends in a backslash": (
        f'{OPEN}call:read{{path:"C:\\temp\\"}}{CLOSE}',
        "read",
        {"path": "C:\\temp\\"},
    ),
    "windows path without quotes": (
        f"{OPEN}call:read{{path:{WINDOWS},limit:1}}{CLOSE}",
        "read",
        {"path": WINDOWS, "limit": 1},
    ),
    "number as text": (
        f"{OPEN}call:read{{path:{Q}a{Q},limit:{Q}30{Q}}}{CLOSE}",
        "read",
        {"path": "a", "limit": 30},
    ),
    "whole number with a point": (
        f"{OPEN}call:read{{path:{Q}a{Q},limit:30.0}}{CLOSE}",
        "read",
        {"path": "a", "limit": 30},
    ),
    "boolean as text": (
        f"{OPEN}call:read{{path:{Q}a{Q},raw:{Q}true{Q}}}{CLOSE}",
        "read",
        {"path": "a", "raw": True},
    ),
    "text as number": (
        f"{OPEN}call:terminal{{command:1.10}}{CLOSE}",
        "terminal",
        {"command": "1.10"},
    ),
    "one text for a list": (
        f"{OPEN}call:query{{data_refs:{Q}a{Q}}}{CLOSE}",
        "query",
        {"data_refs": ["a"]},
    ),
    "list as json text": (
        f'{OPEN}call:query{{data_refs:{Q}["a", 1]{Q}}}{CLOSE}',
        "query",
        {"data_refs": ["a", 1]},
    ),
    "None (April template)": (
        f"{OPEN}call:read{{limit:None,path:{Q}a{Q}}}{CLOSE}",
        "read",
        {"path": "a"},
    ),
    "null for an argument that may be missing": (
        f"{OPEN}call:read{{limit:null,path:{Q}a{Q}}}{CLOSE}",
        "read",
        {"path": "a"},
    ),
    "another name for a key": (
        f"{OPEN}call:read{{filePath:{Q}a{Q}}}{CLOSE}",
        "read",
        {"path": "a"},
    ),
    "two other names for keys": (
        f"{OPEN}call:edit{{file:{Q}a{Q},old_string:{Q}x{Q},new_string:{Q}y{Q}}}{CLOSE}",
        "edit",
        {"path": "a", "old": "x", "new": "y"},
    ),
    "cmd for command": (
        f"{OPEN}call:terminal{{cmd:{Q}ls{Q}}}{CLOSE}",
        "terminal",
        {"command": "ls"},
    ),
    "misspelled key": (
        f"{OPEN}call:search_files{{patern:{Q}x{Q}}}{CLOSE}",
        "search_files",
        {"pattern": "x"},
    ),
    "misspelled tool": (
        f"{OPEN}call:raed{{path:{Q}a{Q}}}{CLOSE}",
        "read",
        {"path": "a"},
    ),
    "tool in another spelling": (
        f"{OPEN}call:WriteFile{{path:{Q}a{Q},content:{Q}b{Q}}}{CLOSE}",
        "write_file",
        {"path": "a", "content": "b"},
    ),
    "tool with a name space": (
        f"{OPEN}call:default_api.read{{path:{Q}a{Q}}}{CLOSE}",
        "read",
        {"path": "a"},
    ),
    "enum in another case": (
        f"{OPEN}call:search_files{{pattern:{Q}a{Q},target:{Q}Files{Q}}}{CLOSE}",
        "search_files",
        {"pattern": "a", "target": "files"},
    ),
}
