"""Corrective RAG over a retriever of your own, in a conversation of two turns."""

import surefoot


class Notes:
    """Finds the notes that share a word with the question."""

    def __init__(self, *notes: str) -> None:
        self.notes = notes

    def retrieve(self, question: str, k: int) -> tuple[surefoot.Passage, ...]:
        words = set(question.lower().strip("?").split())
        shared = [len(words & set(note.lower().split())) for note in self.notes]
        best = sorted(range(len(shared)), key=lambda n: -shared[n])[:k]
        return tuple(surefoot.Passage(f"note {n}", self.notes[n], score=shared[n]) for n in best if shared[n])


NOTES = ("The Ruvel Bridge was built in 1911 by Tomas Aldwin.", "The Hohrin Hut was built in 1934 by Josef Tresk.")
pipeline = surefoot.load({}, parts={"retriever": Notes(*NOTES)})  # {}: whatever surefoot.toml says

first = pipeline.run("Who built the Ruvel Bridge?")
print(first.answer.text)

second = pipeline.run("And the Hohrin Hut?", history=[(first.standalone_question, first.answer.text)])
print(second.standalone_question, "->", second.answer.text)
