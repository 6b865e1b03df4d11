#!/bin/sh
# Writes what a pull request changes as Markdown: moves, new findings on policies, and workloads that no longer survive a loss.
#
#   comment.sh DUMP OLD NEW [URL] > comment.md
#
# DUMP is a dump of the control plane, OLD and NEW are the folder of policies before and after, URL is where the whole report is. The exit
# code is the highest of all commands: 0 if nothing is wrong, 1 for findings, 2 and more if a command could not be run.
set -u
dump=$1 old=$2 new=$3 url=${4:-}
# A comment on GitHub holds 65,536 characters. The first section may have most of them.
top=40
characters_max=60000
worst=0
folder=$(mktemp -d) || exit 3
trap 'rm -rf "$folder"' EXIT

note() {
    if [ "$1" -gt 1 ]; then
        printf '`%s` ended with exit code %s.\n\n' "$2" "$1"
    fi
    if [ "$1" -gt "$worst" ]; then
        worst=$1
    fi
}

section() {
    title=$1
    shift
    printf '### %s\n\n' "$title"
    code=0
    "$@" || code=$?
    note "$code" "$1 $2"
}

# Writes the workloads that do not survive the loss of a region under the policies of a folder, one per line. Names have no other characters.
lost() {
    out=$1
    shift
    code=0
    divvy survive -f "$dump" "$@" --loss region \
        -o 'jsonpath={range .bindings[*]}{.binding}{"\n"}{end}' > "$folder/all" || code=$?
    tr -cd 'A-Za-z0-9./\n-' < "$folder/all" | LC_ALL=C sort > "$out"
    if [ "$code" -gt 1 ]; then
        note "$code" 'divvy survive'
    fi
}

{
    section 'Moves' divvy diff -f "$dump" --overlay-from "$old" --overlay "$new" --max-moved 10% --max-removed 10% \
        --max-full 100% -o "markdown${url:+=$url}"
} > "$folder/moves"
{
    section 'New findings on policies' divvy policies -f "$dump" --overlay-from "$old" --overlay "$new" --new --top "$top" \
        -o markdown
} > "$folder/policies"
{
    printf '### Workloads that no longer survive the loss of a region\n\n'
    lost "$folder/before" --overlay "$old"
    lost "$folder/after" --overlay-from "$old" --overlay "$new"
    LC_ALL=C comm -13 "$folder/before" "$folder/after" > "$folder/lost"
    if [ -s "$folder/lost" ]; then
        note 1 'divvy survive'
        sed 's/.*/- `&`/' "$folder/lost"
    else
        printf 'None.\n'
    fi
} > "$folder/survive"

for part in moves policies survive; do
    if [ "$(cat "$folder/comment" "$folder/$part" 2> /dev/null | wc -m)" -le "$characters_max" ]; then
        cat "$folder/$part" >> "$folder/comment"
        echo >> "$folder/comment"
    else
        printf '\nA section is left out: %s.\n' "$part" >> "$folder/comment"
    fi
done
cat "$folder/comment"
exit "$worst"
