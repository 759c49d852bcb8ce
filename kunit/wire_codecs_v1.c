// SPDX-License-Identifier: GPL-2.0
/*
 * Version 1's part of wire_codecs.c: the dialects name their functions alike.
 */
#include "wire/v1.c"
