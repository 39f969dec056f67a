#!/bin/sh
# Has an arena check a bot, and test it against another version. What it is told by variables is in
# docs/ci.md. It leaves arena-check.json, and of a test arena-test.json, arena-test.xml (JUnit) and
# arena-test.md.
set -eu

: "${ARENA_SERVER:?say where the arena is: ARENA_SERVER=https://arena.example.org}"
: "${ARENA_TOKEN:?give a token with the scopes read and submit: ARENA_TOKEN}"
: "${ARENA_LADDER:?say for which ladder it is: ARENA_LADDER}"
field() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$1" "$2"; }

set -- "${ARENA_BOT:-.}" --ladder "$ARENA_LADDER" --wait --json arena-check.json
[ -z "${ARENA_NAME:-}" ] || set -- "$@" --name "$ARENA_NAME"
[ -z "${ARENA_WAIT_SECONDS:-}" ] || set -- "$@" --wait-seconds "$ARENA_WAIT_SECONDS"
[ "${ARENA_TRY:-false}" != true ] || set -- "$@" --try
arena submit "$@"

[ -n "${ARENA_AGAINST:-}" ] || exit 0
candidate="$(field arena-check.json bot):$(field arena-check.json version)"
# Its words are options, which none of them needs quotes for.
# shellcheck disable=SC2086
arena strength create "$candidate" "$ARENA_AGAINST" --ladder "$ARENA_LADDER" \
    ${ARENA_TEST_OPTIONS:-} --json > arena-created.json
set -- "$(field arena-created.json id)"
[ -z "${ARENA_WAIT_SECONDS:-}" ] || set -- "$@" --wait-seconds "$ARENA_WAIT_SECONDS"
ended=0
arena strength wait "$@" --json arena-test.json --junit arena-test.xml --markdown arena-test.md \
    || ended=$?
[ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat arena-test.md >> "$GITHUB_STEP_SUMMARY"
exit "$ended"
