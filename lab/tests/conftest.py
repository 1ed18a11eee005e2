"""Fixtures that the product's tests have too."""

from command_line import here as here, indexed as indexed, surefoot as surefoot
from conftest import (
    _no_file_holds_a_key as _no_file_holds_a_key,
    _nothing_is_written_into_the_home_folder as _nothing_is_written_into_the_home_folder,
    tiny_bert as tiny_bert,
    tiny_cross_encoder as tiny_cross_encoder,
    tiny_minilm as tiny_minilm,
    tiny_t5 as tiny_t5,
)
from shelf import pipeline as pipeline
