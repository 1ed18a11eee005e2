"""Fixtures of the command line's tests."""

from command_line import here as here
from command_line import indexed as indexed
from command_line import surefoot as surefoot
