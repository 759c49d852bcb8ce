/* SPDX-License-Identifier: GPL-2.0 */
/*
 * This end's REQUESTs for a size of the peer's Receives, as a table. The table knows no
 * connection, so that a unit test can walk through it.
 */
#ifndef _RPCRDMA2_ASK_H
#define _RPCRDMA2_ASK_H

/**
 * enum rpcrdma2_ask - this end's REQUEST: xcharext, 4
 * @RPCRDMA2_ASK_NOTHING: no REQUEST is out
 * @RPCRDMA2_ASK_EMPTY: an empty one is out, and a DISPOSITION will answer it
 * @RPCRDMA2_ASK_SIZE: one for a size is out, and a DISPOSITION will answer it
 * @RPCRDMA2_ASK_PENDING: the peer has accepted the size, and will tell by an UPDATE
 * @RPCRDMA2_ASK_PENDING_EMPTY: likewise, and an empty REQUEST is out
 * @RPCRDMA2_ASK_NR: number of states
 */
enum rpcrdma2_ask {
	RPCRDMA2_ASK_NOTHING,
	RPCRDMA2_ASK_EMPTY,
	RPCRDMA2_ASK_SIZE,
	RPCRDMA2_ASK_PENDING,
	RPCRDMA2_ASK_PENDING_EMPTY,
	RPCRDMA2_ASK_NR,
};

/**
 * enum rpcrdma2_ask_event - what happens to this end's REQUEST
 * @RPCRDMA2_ASK_SEND_EMPTY: this end sends an empty REQUEST
 * @RPCRDMA2_ASK_SEND_SIZE: this end sends a REQUEST for a size
 * @RPCRDMA2_ASK_ANSWERED: a DISPOSITION without any property came
 * @RPCRDMA2_ASK_DONE: a DISPOSITION came: the peer's Receives have the size
 * @RPCRDMA2_ASK_REJECTED: a DISPOSITION came: the peer's Receives keep their size
 * @RPCRDMA2_ASK_ACCEPTED: a DISPOSITION came: an UPDATE will follow
 * @RPCRDMA2_ASK_SETTLED: that UPDATE came
 * @RPCRDMA2_ASK_REFUSED: an RDMA2_ERROR answered the REQUEST
 * @RPCRDMA2_ASK_NR_EVENTS: number of events
 */
enum rpcrdma2_ask_event {
	RPCRDMA2_ASK_SEND_EMPTY,
	RPCRDMA2_ASK_SEND_SIZE,
	RPCRDMA2_ASK_ANSWERED,
	RPCRDMA2_ASK_DONE,
	RPCRDMA2_ASK_REJECTED,
	RPCRDMA2_ASK_ACCEPTED,
	RPCRDMA2_ASK_SETTLED,
	RPCRDMA2_ASK_REFUSED,
	RPCRDMA2_ASK_NR_EVENTS,
};

int rpcrdma2_ask_next(enum rpcrdma2_ask ask, enum rpcrdma2_ask_event event);

/**
 * rpcrdma2_ask_is_out - does a DISPOSITION have to answer this end's REQUEST?
 * @ask: the state
 *
 * This end sends no other REQUEST until then.
 *
 * Context: Any.
 * Return: true if one has to
 */
static inline bool rpcrdma2_ask_is_out(enum rpcrdma2_ask ask)
{
	return ask == RPCRDMA2_ASK_EMPTY || ask == RPCRDMA2_ASK_SIZE ||
	       ask == RPCRDMA2_ASK_PENDING_EMPTY;
}

/**
 * rpcrdma2_ask_has_size - has this end asked for a size that the peer has not settled?
 * @ask: the state
 *
 * This end sends no Call beyond that size until then.
 *
 * Context: Any.
 * Return: true if so
 */
static inline bool rpcrdma2_ask_has_size(enum rpcrdma2_ask ask)
{
	return ask >= RPCRDMA2_ASK_SIZE;
}

#endif /* _RPCRDMA2_ASK_H */
