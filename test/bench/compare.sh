#!/bin/sh
# compare.sh SRC DST: whether two trees are the same in the eyes of diff, rsync, getfattr and getfacl.
# Exit code 0: the same; 1: differences, printed; 2: a tool is missing or the arguments are wrong.
# Run it as root: an ordinary user sees neither trusted attributes nor unreadable files.
set -u
export LC_ALL=C

if [ $# -ne 2 ] || [ ! -d "$1" ] || [ ! -d "$2" ]; then
  echo "usage: compare.sh SRC DST (two directories)" >&2
  exit 2
fi
src=$(cd -- "$1" && pwd -P) || exit 2
dst=$(cd -- "$2" && pwd -P) || exit 2

missing=
for need in diff:diffutils rsync:rsync getfattr:attr getfacl:acl; do
  command -v "${need%%:*}" >/dev/null || missing="$missing ${need#*:}"
done
if [ -n "$missing" ]; then
  echo "missing tools; on Debian: apt-get install$missing" >&2
  exit 2
fi

work=$(mktemp -d) || exit 2
trap 'rm -rf -- "$work"' EXIT
trap 'exit 130' INT TERM
different=0

# Runs a comparison whose output is empty exactly when the trees are the same.
expect_nothing() {
  name=$1
  shift
  "$@" >"$work/output" 2>"$work/errors"
  code=$?
  if [ -s "$work/output" ] || [ -s "$work/errors" ] || [ "$code" -ne 0 ]; then
    different=1
    echo "== $name: differences (exit code $code)"
    head -n 200 "$work/output" "$work/errors"
  else
    echo "== $name: the same"
  fi
}

# diff calls two FIFOs, sockets or devices different even when they are alike; rsync below compares those.
contents() {
  diff -r --no-dereference -- "$src" "$dst" >"$work/diff"
  code=$?
  awk '{ line = $0 }
    /^File .* is a (fifo|socket|character special file|block special file) while file .* is a / {
      first = line; sub(/^.* is an? /, "", line); second = line
      sub(/ while file .*$/, "", first); sub(/^.* is an? /, "", first)
      if (first == second) next
    }
    { print $0 }' "$work/diff"
  [ "$code" -le 1 ]
}

everything_but_acls() {
  # without a modify window of -1 rsync compares whole seconds only
  rsync -aHAX --numeric-ids --checksum --modify-window=-1 --dry-run --itemize-changes --delete -- \
    "$src/" "$dst/"
}

# One line per file and attribute, whatever order the directory is listed in. Records are paragraphs; names with a
# newline are printed escaped by both tools.
attributes() {
  (cd -- "$1" && getfattr -d -m - -e hex -R -h -P -- .) |
    awk 'BEGIN { RS = ""; FS = "\n" } { for (i = 2; i <= NF; i++) print $1 " " $i }' | sort
}

access_lists() {
  (cd -- "$1" && getfacl -R -P -n -- .) |
    awk 'BEGIN { RS = ""; FS = "\n"; OFS = " ; " } { $1 = $1; print }' | sort
}

both_sides() {
  "$1" "$src" >"$work/left" && "$1" "$dst" >"$work/right" && diff -- "$work/left" "$work/right"
}

expect_nothing 'diff -r --no-dereference' contents
expect_nothing 'rsync -aHAX --checksum' everything_but_acls
expect_nothing 'getfattr' both_sides attributes
expect_nothing 'getfacl' both_sides access_lists
exit "$different"
