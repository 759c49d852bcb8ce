// SPDX-License-Identifier: GPL-2.0
/*
 * v2-01's part of wire_codecs.c: the dialects name their functions alike.
 */
#include "wire/v2_01.c"
