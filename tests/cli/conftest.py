"""Fixtures of the command line's tests."""

from command_line import here as here, indexed as indexed, surefoot as surefoot
