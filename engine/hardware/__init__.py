"""What this machine has, and what this build of llama.cpp can use of it.

Importing any module here is light: neither numpy nor llama.cpp is loaded by it.
"""
