# Made by scripts/generate.py from _async. Do not edit.
"""The client with threads."""
