#!/bin/sh
# What a new user does, with a `holdfast` on the path: back up, look, restore, check. Run as that user.
set -eu
fail() { echo "FAILED: $*" >&2; exit 1; }

documents=$(mktemp -d)/documents
mkdir -p "$documents/plans"
echo 'the plan' >"$documents/plans/plan.txt"
head -c 3000000 /dev/urandom >"$documents/picture"
cp -r "$documents" "$documents.before"

holdfast --version
holdfast start --once --quiet --source "$documents" >/dev/null 2>&1 || fail 'the first backup'
rm "$documents/plans/plan.txt"
holdfast find plan.txt | grep -q plan.txt || fail 'the deleted file is found'
holdfast restore latest "$documents/plans/plan.txt" --in-place >/dev/null || fail 'the file is restored'
diff -r "$documents" "$documents.before" || fail 'what is restored is what was saved'
holdfast restore latest --target "$documents.back" >/dev/null || fail 'all is restored'
diff -r "$documents.back$documents" "$documents.before" || fail 'all that is restored is what was saved'
holdfast check --read-data >/dev/null || fail 'the repository is whole'
holdfast doctor >/dev/null || fail 'the doctor finds nothing broken'
echo 'ok  backed up, found, restored and checked'
