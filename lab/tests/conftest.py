"""Fixtures that the product's tests have too."""

from conftest import _no_file_holds_a_key as _no_file_holds_a_key
from conftest import _nothing_is_written_into_the_home_folder as _nothing_is_written_into_the_home_folder
from conftest import tiny_bert as tiny_bert
from conftest import tiny_cross_encoder as tiny_cross_encoder
from conftest import tiny_minilm as tiny_minilm
from conftest import tiny_t5 as tiny_t5
from shelf import pipeline as pipeline
