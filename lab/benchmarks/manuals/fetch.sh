#!/usr/bin/env bash
# Fetch the HTML pages of Debian documentation packages without installing them: fetch.sh FOLDER [PACKAGE …]
#
# The pages of each package go to FOLDER/PACKAGE, under the names that `file` has in questions.jsonl. Other forms of the
# same pages (JSON, Markdown, one page with everything) and links to pages are left out. Needs apt-get with package
# lists (`apt-get update`) and dpkg-deb; no root.
set -euo pipefail

folder=${1:?usage: fetch.sh FOLDER [PACKAGE …]}
shift
[[ $# -gt 0 ]] || set -- exim4-doc-html varnish-doc cmake-doc bind9-doc zsh-doc nodejs-doc
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for package in "$@"; do
  [[ ! -e $folder/$package ]] || { echo "fetch.sh: $folder/$package exists already" >&2; exit 1; }
  apt-get -q download "$package"
  dpkg-deb -x "$package"_*.deb "$package"
  (cd "$package/usr/share/doc" && find . -type f -name '*.html' ! -name all.html -print0 |
    while IFS= read -r -d '' page; do install -Dm644 "$page" "$folder/$package/$page"; done)
  dpkg-deb -f "$package"_*.deb Version
done
