"""The commands of `surefoot lab`: methods measured on labelled data, studies of evaluators, and their training."""

from surefoot.cli._commands import Listing

TRAIN: Listing = {
    "evaluator": "surefoot_lab.cli.train:evaluator",
    "verifier": "surefoot_lab.cli.train:verifier",
    "average": "surefoot_lab.cli.train:average",
    "t5": "surefoot_lab.cli.train:t5",
    "teacher": "surefoot_lab.cli.train:teacher",
}
COMMANDS: Listing = {
    "evaluator": "surefoot_lab.cli.evaluator:evaluator",
    "verifier": "surefoot_lab.support:verifier",
    "tune": "surefoot_lab.tuning:tune",
    "qa": "surefoot_lab.cli.qa:qa",
    "manuals": "surefoot_lab.manuals:manuals",
    "rules": "surefoot_lab.rules:rules",
    "facts": "surefoot_lab.factscore:facts",
    "study": "surefoot_lab.study.run:study",
    "ragxplain": "surefoot_lab.ragxplain:ragxplain",
    "words": "surefoot_lab.words:words",
    "drift": "surefoot_lab.drift:drifted",
    "train": ("Make an evaluator or a verifier from labelled data.", TRAIN),
}
"""Each command, in the order of the help, and where it is."""
