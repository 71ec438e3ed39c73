"""Running commands for the model: what a command would do, and what it can do at most.

``command_line`` reads a line of the shell, ``danger`` says why it has to be asked for, and
``sandbox`` keeps what runs inside the workspace.
"""
