// SPDX-License-Identifier: GPL-2.0
/* Converts octets from hex and to hex. */
#include <arpa/inet.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

static void add_digit(struct octets *o, unsigned int digit, char c)
{
	unsigned int shift = digit % 2 ? 0 : 4;
	const char *hex = "0123456789abcdef";
	const char *found = strchr(hex, tolower(c));

	if (digit / 2 >= MESSAGE_MAX)
		fail("a message of more than %u octets", MESSAGE_MAX);
	if (c == 'x')
		return;
	if (!found)
		fail("not a digit: '%c'", c);
	o->data[digit / 2] |= (found - hex) << shift;
	o->mask[digit / 2] |= 0xf << shift;
}

/**
 * octets_vformat - parse a message in hex
 * @o: receives the octets; the mask leaves out each x
 * @fmt: hex digits and spaces, as vprintf's
 * @ap: arguments of @fmt
 */
void octets_vformat(struct octets *o, const char *fmt, va_list ap)
{
	unsigned int digits = 0;
	char *text, *p;

	if (vasprintf(&text, fmt, ap) < 0)
		fail("no memory");
	memset(o, 0, sizeof(*o));
	for (p = text; *p; p++)
		if (!isspace(*p))
			add_digit(o, digits++, *p);
	o->len = digits / 2;
	free(text);
}

/**
 * octets_format - parse a message in hex
 * @o: receives the octets; the mask leaves out each x
 * @fmt: hex digits and spaces, as printf's
 */
void octets_format(struct octets *o, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	octets_vformat(o, fmt, ap);
	va_end(ap);
}

/**
 * octets_match - compare a message with an expected one
 * @expected: the expected message
 * @data: the message
 * @len: octets of the message
 *
 * Return: true if they differ in no digit that the mask has.
 */
bool octets_match(const struct octets *expected, const void *data,
		  unsigned int len)
{
	const unsigned char *p = data;
	unsigned int i;

	if (len != expected->len)
		return false;
	for (i = 0; i < len; i++)
		if ((p[i] ^ expected->data[i]) & expected->mask[i])
			return false;
	return true;
}

static void print_digit(unsigned int value, unsigned int mask)
{
	putchar(mask & 0xf ? "0123456789abcdef"[value & 0xf] : 'x');
}

/* Octets that are worth reading in a log */
#define PRINT_MAX	1024

/**
 * octets_print - print a message in hex
 * @title: what the message is
 * @data: the message
 * @mask: digits to print; NULL: all
 * @len: octets of the message
 */
void octets_print(const char *title, const unsigned char *data,
		  const unsigned char *mask, unsigned int len)
{
	unsigned int i;

	printf("# %s, %u octets:", title, len);
	for (i = 0; i < len && i < PRINT_MAX; i++) {
		if (i % 32 == 0)
			printf("\n#\t");
		print_digit(data[i] >> 4, mask ? mask[i] >> 4 : 0xf);
		print_digit(data[i], mask ? mask[i] : 0xf);
		if (i % 4 == 3)
			putchar(' ');
	}
	printf("%s\n", i < len ? "..." : "");
}

/**
 * word_at - read a word of a message
 * @data: the message
 * @index: index of the word
 *
 * Return: the word, in host byte order.
 */
uint32_t word_at(const void *data, unsigned int index)
{
	uint32_t word;

	memcpy(&word, (const char *)data + 4 * index, sizeof(word));
	return ntohl(word);
}
