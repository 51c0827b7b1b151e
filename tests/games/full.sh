#!/bin/sh
# Games, long version: random games of two players, and a table of how many games of more players reach an equilibrium.
#   LIMN=build/limn tests/games/full.sh
LIMN=$(cd "$(dirname "$LIMN")" && pwd)/$(basename "$LIMN")
export LIMN
exec sh "$(dirname "$0")/test.sh" files exploit optimisers players known bits laws random table
