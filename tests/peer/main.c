// SPDX-License-Identifier: GPL-2.0
/*
 * The command line of the peer:
 *
 *	peer client ADDRESS PORT [TEXT...] run the cases of the hostile client against the
 *					server; only those with a TEXT in their names
 *	peer linger ADDRESS PORT	hold connections that are not set up, until killed
 *	peer withhold ADDRESS PORT	let the server wait for an answer, until killed
 *	peer flood ADDRESS PORT CONNECTIONS	many clients send what uses no credit
 *	peer hold ADDRESS PORT CASE CONNECTIONS SOURCES
 *					make the server hold memory
 *	peer server ADDRESS PORT CASE	be a hostile server, for one client
 *	peer list			list the cases of the hostile server
 */
#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "peer.h"

struct sockaddr_in server_address = { .sin_family = AF_INET };

/**
 * fail - end the process of a case that failed
 * @fmt: why, as printf's
 */
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
			"peer withhold ADDRESS PORT\n"
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
	if (!strcmp(argv[1], "withhold"))
		return withhold();
	if (!strcmp(argv[1], "flood") && argc == 5)
		return flood(atoi(argv[4]));
	if (!strcmp(argv[1], "hold") && argc == 7)
		return hold(argv[4], atoi(argv[5]), atoi(argv[6]));
	if (!strcmp(argv[1], "server") && argc == 5)
		return misbehave(argv[4]);
	return usage();
}
