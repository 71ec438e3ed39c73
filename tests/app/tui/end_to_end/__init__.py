"""The app as a person has it: a process on a terminal, below a shell or alone."""
