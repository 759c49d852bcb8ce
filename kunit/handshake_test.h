/* SPDX-License-Identifier: GPL-2.0 */
/* Scenarios of the first messages, for handshake_test.c */
#ifndef _RPCRDMA2_HANDSHAKE_TEST_H
#define _RPCRDMA2_HANDSHAKE_TEST_H

#include "conn/handshake.h"

#define HS_LINES	16

/**
 * struct hs_line - an event of a scenario, and its effect
 * @wire: a message in hex; NULL: the event is no message
 * @event: what the module has to recognize
 * @action: what the module has to do
 * @next: the state after that
 */
struct hs_line {
	const char	*wire;
	u8		event;
	u8		action;
	u8		next;
};

/**
 * struct hs_scenario - the events that one end of a connection meets
 * @name: what is special about the scenario
 * @end: whether this end connected, and its first state
 * @end.client: this end connected
 * @end.start: its first state
 * @dialects: dialects that this end may speak, the preferred one first
 * @line: events in order; an empty line ends them
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
