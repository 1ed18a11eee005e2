"""Text: words, sentences, languages, what is planted in it, JSON and TOML, and the replies of models."""
