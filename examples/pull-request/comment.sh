#!/bin/sh
# Writes what a pull request changes as Markdown: findings on policies, moves, and workloads that do not survive a loss.
#
#   comment.sh DUMP OLD NEW > comment.md
#
# DUMP is a dump of the control plane, OLD and NEW are the folder of policies before and after. The exit code is the highest of all
# commands: 0 if nothing is wrong, 1 for findings, 2 and more if a command could not be run.
set -u
dump=$1 old=$2 new=$3
# A comment on GitHub holds 65,536 characters.
top=40
worst=0

section() {
    title=$1
    shift
    printf '### %s\n\n' "$title"
    code=0
    "$@" || code=$?
    if [ "$code" -gt 1 ]; then
        printf '`%s` ended with exit code %s.\n\n' "$1 $2" "$code"
    fi
    if [ "$code" -gt "$worst" ]; then
        worst=$code
    fi
}

section 'Moves' divvy diff -f "$dump" --overlay-from "$old" --overlay "$new" --max-moved 10% --max-full 100% \
    --top "$top" -o markdown
section 'Policies' divvy policies -f "$dump" --overlay-from "$old" --overlay "$new" --top "$top" -o markdown
section 'Workloads that do not survive the loss of a region' divvy survive -f "$dump" --overlay-from "$old" \
    --overlay "$new" --loss region --top "$top" -o markdown
exit "$worst"
