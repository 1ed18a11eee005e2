"""The suffixes that each loader reads, apart from the loaders, so that none is imported to find out."""

_NAMED = "c cmake css dart fish go groovy hcl java lisp lua nix php proto r scala sql swift tcl vim zig"
"""Languages whose files end in their own name."""

LANGUAGES = {f".{name}": name for name in _NAMED.split()} | {
    suffix: language
    for language, suffixes in {
        "bash": ".sh .bash .zsh .ksh",
        "c": ".h",
        "clojure": ".clj .cljs",
        "cpp": ".cc .cpp .cxx .hh .hpp .hxx",
        "csharp": ".cs",
        "css": ".scss .less",
        "elixir": ".ex .exs",
        "erlang": ".erl .hrl",
        "fortran": ".f90 .f95 .f03",
        "groovy": ".gradle",
        "haskell": ".hs",
        "hcl": ".tf",
        "javascript": ".js .mjs .cjs .jsx",
        "julia": ".jl",
        "kotlin": ".kt .kts",
        "lisp": ".el",
        "ocaml": ".ml .mli",
        "perl": ".pl .pm",
        "powershell": ".ps1 .psm1",
        "python": ".py .pyi",
        "ruby": ".rb",
        "rust": ".rs",
        "typescript": ".ts .tsx .mts",
    }.items()
    for suffix in suffixes.split()
}
"""By each suffix of source code its language, as one writes it behind a fence."""

SETTINGS = {suffix: suffix[1:] for suffix in ".toml .ini .conf .cfg .cnf .properties".split()} | {
    ".yaml": "yaml",
    ".yml": "yaml",
}
"""By each suffix of settings their language."""

PANDOC = {
    suffix: source
    for source, suffixes in {
        "asciidoc": ".adoc .asciidoc",
        "docbook": ".xml .dbk .docbook",
        "docx": ".docx",
        "fb2": ".fb2",
        "ipynb": ".ipynb",
        "jats": ".jats .nxml",
        "latex": ".tex .ltx .latex",
        "man": ".man",
        "mdoc": ".mdoc",
        "mediawiki": ".mediawiki .wiki",
        "odt": ".odt",
        "org": ".org",
        "pptx": ".pptx",
        "rst": ".rst .rest",
        "rtf": ".rtf",
        "textile": ".textile",
        "typst": ".typ",
    }.items()
    for suffix in suffixes.split()
}
"""By each suffix that pandoc reads, the name of its reader."""

OLD = {".doc": ".docx", ".dot": ".docx", ".xls": ".xlsx", ".ppt": ".pptx", ".pps": ".pptx"}
"""By the suffix of each old binary format, the one to save it as."""

_OTHERS = {
    "csv": ".csv .tsv",
    "html": ".html .htm .xhtml",
    "json": ".json .jsonl .ndjson",
    "markdown": ".md .markdown",
    "pandoc": " ".join(PANDOC),
    "text": ".txt .text .debian",
}

BY_LOADER = {name: suffixes.split() for name, suffixes in _OTHERS.items()} | {"code": [*LANGUAGES, *SETTINGS]}
"""The suffixes of each built-in loader that reads others than the one it is named as."""
