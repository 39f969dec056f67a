#!/bin/sh
# Plays a random legal move. A bot is one process, so here is no $(...) and no pipe: nothing but
# what the shell does by itself.

set -f # words are moves, never patterns for the names of files

dice=0
legal=
while read -r verb words; do
    case $verb in
    hello*)
        echo "ready random-sh want=legal"
        ;;
    newgame*)
        for word in $words; do
            case $word in
            seed=*)
                dice=${word#seed=}
                dice=${dice%%[!0-9]*} # a \r at the end of the line goes too
                ;;
            esac
        done
        echo ok
        ;;
    legal*)
        legal=$words
        ;;
    go*)
        # The generator of ANSI C: 31 bits, of which the upper ones are the good dice.
        dice=$(((dice & 0x7fffffff) * 1103515245 + 12345 & 0x7fffffff))
        set -- $legal
        shift $((dice / 65536 % $#))
        echo "move $1"
        ;;
    quit*)
        exit
        ;;
    esac
done
