"""The commands of `surefoot lab`: methods measured on labelled data, studies of evaluators, and their training."""

from surefoot.cli._commands import Listing

TRAIN: Listing = {
    "evaluator": (
        "surefoot_lab.cli.train:evaluator",
        "Train Surefoot's own evaluator, minilm; run it again to go on where it stopped.",
    ),
    "verifier": (
        "surefoot_lab.cli.train:verifier",
        "Train Surefoot's own verifier; run it again to go on where it stopped.",
    ),
    "average": (
        "surefoot_lab.cli.train:average",
        "Make one minilm of several trainings from the same start: their mean, calibrated.",
    ),
    "t5": (
        "surefoot_lab.cli.train:t5",
        "Fine-tune a T5 as CRAG's evaluator was.",
    ),
}
COMMANDS: Listing = {
    "evaluator": (
        "surefoot_lab.cli.evaluator:evaluator",
        "Grade labelled pairs and count: AUC, accuracy, calibration, actions, speed.",
    ),
    "verifier": (
        "surefoot_lab.cli.verifier:verifier",
        "Hold labelled sentences against their evidence: AUC, precision, words, speed.",
    ),
    "tune": (
        "surefoot_lab.cli.tune:tune",
        "Fit an evaluator's thresholds to a stated risk, with a bound. Code 1: there are none.",
    ),
    "qa": (
        "surefoot_lab.cli.qa:qa",
        "Answer labelled questions and count: accuracy with its interval, by action and type, recall, seconds.",
    ),
    "manuals": (
        "surefoot_lab.cli.manuals:manuals",
        "Ask questions about manuals, beside BM25's first passage, and count where evidence is lost.",
    ),
    "rules": (
        "surefoot_lab.cli.rules:rules",
        "Switch each word rule that excludes evidence off, and count what is then missed.",
    ),
    "facts": (
        "surefoot_lab.cli.facts:facts",
        "Let the language model judge, fact by fact, whether texts support a run's answers.",
    ),
    "study": (
        "surefoot_lab.cli.study:study",
        "Explain many grades, test the claims that were fixed before, and report.",
    ),
    "words": (
        "surefoot_lab.cli.words:words",
        "Draw what a few grades of each action owe to their words: bars, and a heatmap.",
    ),
    "drift": (
        "surefoot_lab.cli.drift:drifted",
        "Tell whether the grades of recent questions have left the distribution of earlier ones. Code 1: they have.",
    ),
    "train": (TRAIN, "Make an evaluator or a verifier from labelled data."),
}
"""Each command: where it is, and the first line of its help."""
