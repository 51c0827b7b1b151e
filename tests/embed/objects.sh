#!/bin/sh
# The objects of the library one by one, but for its arena: for tests that bring an arena which counts.
#   objects.sh BUILD
find "$1" -name '*.o' ! -path "*/tests/*" ! -path "*/cli/*" ! -path "*/fuzz/*" ! -path "$1/san/*" ! -path "$1/pic/*" \
  ! -path "*/arena.o" ! -path "*/main.o" ! -name 'liblimn*.o' ! -name 'all.o' | sort
