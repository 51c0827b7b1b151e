// number.h: conversion of numbers, independent of the locale.
#ifndef LIMN_BASE_NUMBER_H
#define LIMN_BASE_NUMBER_H

#include "base/base.h"

// As strtod without hexadecimal: correctly rounded. *end (if not NULL) is set to the end of the
// number, or to `text` if there is none.
double number_read(const char *text, const char **end);
enum { NUMBER_ROOM = 40 };
// Writes the shortest decimal that reads back as the same bits; returns its length.
size_t number_print(char out[NUMBER_ROOM], double);
// As printf with these flags ("", "+", "#"), precision (-1: default) and conversion 'f', 'e', 'g'
// or 'a'. Returns the length; 0 if `room` is too small.
size_t number_format(char *out, size_t room, const char *flags, int precision, char as, double);

#endif
