"""A T5 that is small enough to be trained anywhere, for `surefoot lab train t5` to start from.

    python benchmarks/small_t5.py models/t5-start popqa/wikidata_paragraphs.jsonl popqa/e5.jsonl

Two layers, drawn at random by the seed, and a sub-word tokeniser learned from the files' questions and passages. It
stands in for the T5-large of the CRAG paper where that is not to be had, and knows nothing but what it is then taught.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

from surefoot_lab.datasets.pairs import read

MARKS = ["<pad>", "</s>", "<unk>"]


def texts(paths: list[Path]) -> Iterator[str]:
    for path in paths:
        for pair in read(path).pairs:
            yield f"{pair.question} [SEP] {pair.passage.text}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("data", type=Path, nargs="+")
    parser.add_argument("--pieces", type=int, default=4000, help="of the vocabulary")
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    learned = trainers.UnigramTrainer(vocab_size=given.pieces, special_tokens=MARKS, unk_token="<unk>")
    tokenizer.train_from_iterator(texts(given.data), learned)
    tokenizer.post_processor = processors.TemplateProcessing(single=["$A", "</s>"], special_tokens=[("</s>", 1)])
    torch.manual_seed(given.seed)
    config = transformers.T5Config(
        vocab_size=tokenizer.get_vocab_size(),
        d_model=given.width,
        d_kv=given.width // 4,
        d_ff=2 * given.width,
        num_layers=2,
        num_heads=4,
        decoder_start_token_id=0,
        num_labels=1,
    )
    transformers.T5ForConditionalGeneration(config).save_pretrained(given.out)
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    ).save_pretrained(given.out)
    print(f"{given.out}: {tokenizer.get_vocab_size()} pieces, width {given.width}")


if __name__ == "__main__":
    main()
