// SPDX-License-Identifier: GPL-2.0
/*
 *	peer client ADDRESS PORT [TEXT...] all that a hostile client does to the
 *					server there, or what has a TEXT in its name
 *	peer linger ADDRESS PORT	connections to the server there that are not through,
 *					until it is killed
 *	peer flood ADDRESS PORT CONNECTIONS	many clients that send what uses no credit
 *	peer hold ADDRESS PORT CASE CONNECTIONS SOURCES
 *					have the server there hold memory
 *	peer server ADDRESS PORT CASE	be that hostile server, to one client
 *	peer list			the cases of the hostile server
 */
#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "peer.h"

struct sockaddr_in server_address = { .sin_family = AF_INET };

void fail(const char *fmt, ...)
{
	va_list ap;

	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	_exit(1);
}

static int usage(void)
{
	fprintf(stderr, "peer client ADDRESS PORT [TEXT...]\n"
			"peer linger ADDRESS PORT\n"
			"peer flood ADDRESS PORT CONNECTIONS\n"
			"peer hold ADDRESS PORT CASE CONNECTIONS SOURCES\n"
			"peer server ADDRESS PORT CASE\n"
			"peer list\n");
	return 2;
}

int main(int argc, char **argv)
{
	setlinebuf(stdout);
	if (argc == 2 && !strcmp(argv[1], "list")) {
		list_misbehaviours();
		return 0;
	}
	if (argc < 4 ||
	    inet_pton(AF_INET, argv[2], &server_address.sin_addr) != 1)
		return usage();
	server_address.sin_port = htons(atoi(argv[3]));
	if (!strcmp(argv[1], "client"))
		return attack_server(&argv[4]);
	if (!strcmp(argv[1], "linger"))
		return linger();
	if (!strcmp(argv[1], "flood") && argc == 5)
		return flood(atoi(argv[4]));
	if (!strcmp(argv[1], "hold") && argc == 7)
		return hold(argv[4], atoi(argv[5]), atoi(argv[6]));
	if (!strcmp(argv[1], "server") && argc == 5)
		return misbehave(argv[4]);
	return usage();
}
