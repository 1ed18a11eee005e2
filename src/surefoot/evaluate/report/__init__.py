"""What an evaluation found, as a folder, a page and a text whose claims are checked."""
