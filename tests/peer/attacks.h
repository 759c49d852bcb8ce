/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a hostile client can do in one message, and what is due: an answer, if
 * there is one, and then the end of the connection, or it stays, and an honest
 * Call is served on it as ever.
 */
#ifndef ATTACKS_H
#define ATTACKS_H

#include <stddef.h>

enum end { STAYS, CLOSES };

struct attack {
	const char	*name;
	const char	*message;
	const char	*answer;
	enum end	end;
};

/* Each ends with an attack that has no name. */
extern const struct attack attacks_first[];
extern const struct attack attacks_prefix[];
extern const struct attack attacks_lists[];
extern const struct attack attacks_rpc[];

#endif /* ATTACKS_H */
