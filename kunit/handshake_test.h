/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What one end of a connection hears, and what it has to make of that.
 */
#ifndef _RPCRDMA2_HANDSHAKE_TEST_H
#define _RPCRDMA2_HANDSHAKE_TEST_H

#include "conn/handshake.h"

#define HS_LINES	16

/**
 * struct hs_line - something comes
 * @wire: a message, in hex; NULL if what comes is no message
 * @event: what it has to be recognized as
 * @action: what has to be done about it
 * @next: the state after that
 */
struct hs_line {
	const char	*wire;
	u8		event;
	u8		action;
	u8		next;
};

/**
 * struct hs_scenario - a connection, as one end sees it
 * @name: what is special about it
 * @end.client: this end connected
 * @end.start: its first state
 * @dialects: what this end may speak
 * @line: what comes, in that order; an empty line ends it
 */
struct hs_scenario {
	const char	*name;
	struct {
		bool	client;
		u8	start;
	} end;
	const struct rpcrdma2_dialects *dialects;
	struct hs_line	line[HS_LINES];
};

/* handshake_scenarios.c */
extern const struct hs_scenario hs_scenarios[];
extern const unsigned int hs_nr_scenarios;

#endif /* _RPCRDMA2_HANDSHAKE_TEST_H */
