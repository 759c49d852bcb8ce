/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Models credits, Receives and lost connections: requester/credit.c, requester/reply.c,
 * responder/responder.c, rdma/recv_pool.c. Each of two ends is a requester and a responder on
 * one connection. RPCs are sent, killed, answered or left unanswered, refused, and sent again.
 *
 * Claims:
 *  1. A responder never gets a Call beyond its grant.
 *  2. Each message finds a Receive, and no Receive Queue gets more Receives than it has room for.
 *  3. Each answer is for an RPC that was sent on this connection and is not answered yet.
 *  4. An end closes a connection for lack of an answer only if a Call got no answer.
 *  5. Every RPC that is not killed gets an answer in the end. No behaviour is infinite (there is
 *     no cycle), and each behaviour ends with all RPCs done.
 *
 * LOSSES limits how often a connection is lost, or closed by a timer that did not wait long
 * enough. KILLS, DROPS and ERRORS limit how many RPCs are killed, and how many Calls are left
 * unanswered or refused. A step between two semicolons is the work of one thread under a lock,
 * or all of its work that other threads can see.
 *
 * Each "#if MUTANT ==" is a mistake that the test must find.
 */
#ifndef MUTANT
#define MUTANT NONE
#endif
#define NONE			0
#define NO_SECOND_LOOK		1
#define NO_STARVED		2
#define KILLED_CREDIT		3
#define SENT_TWICE		4
#define ERROR_KEEPS_CREDIT	5
#define NO_CLAMP		6
#define GRANT_FIRST		7
#define LATE_CREDIT		8
#define LATE_RECEIVE		9
#define NO_CONTROL		10
#define NO_USERS		11

#define CLIENT	0
#define SERVER	1

/* How many Calls an end takes at a time, and how many it may send at a time */
#define CALLS_IN(end)	(end == SERVER -> FORTH : BACK)
#define CALLS_OUT(end)	CALLS_IN(1 - end)

#if MUTANT == NO_CONTROL
#define CONTROL	0
#else
#define CONTROL	1	/* Receives for a CONNPROP: the fewest that work (the code has 5) */
#endif
#define DEPTH(end)	(CALLS_IN(end) + CONTROL + CALLS_OUT(end))
#define ROOM		(FORTH + CONTROL + BACK + 1)

#define RPCS	(CALLS + CALLBACKS)

mtype = { CONNPROP, CONNPROP_ANSWER, CALL, REPLY, ERROR };

/* An RPC is QUEUED to be sent, SENT, or PINNED while its answer is being handled. */
mtype = { QUEUED, SENT, PINNED, ANSWERED, KILLED };
mtype rpc[RPCS] = QUEUED;
byte done[2];

/* The connection. Its users are threads between enter and exit, and the CQ handlers. */
mtype = { DOWN, UP, CLOSING };
mtype life = DOWN;
byte users;
bool unanswered;	/* one of the connection's Calls */

/* For each end: sunrpc's state, the requester, the responder, and Receives */
bool connected[2], locked[2], write_space[2];
byte granted[2], outstanding[2];
bool starved[2];
byte calls[2];
byte posted[2], backed[2];

chan to[2] = [ROOM] of { mtype, byte, byte };
chan jobs[2] = [ROOM] of { byte };
bool owned[THREADS + 1];	/* a thread has a job of this connection */

byte losses = LOSSES, kills = KILLS, drops = DROPS, errors = ERRORS;

/* A message arrives as soon as it is sent, because that is the worst moment for its Receive. */
inline send(peer, kind, id, grant)
{
	assert(posted[peer] > 0);
	posted[peer]--;
	to[peer] ! kind, id, grant
}

inline recv_put(me)
{
	if
	:: life == UP ->
		posted[me]++;
		assert(posted[me] <= DEPTH(me))
	:: else
	fi
}

inline conn_close()
{
	if
	:: life == UP -> life = CLOSING
	:: else
	fi
}

inline conn_exit()
{
	users--
}

inline credit_take(ok)
{
	atomic {
		ok = outstanding[me] < granted[me];
		outstanding[me] = outstanding[me] + ok
	}
}

/*
 * An RPC's task. In sunrpc, the task waits for the write lock and for a connection. If it asked
 * for xprt_write_space(), it waits for that, too.
 */
proctype task(byte me; byte id)
{
	bool ok;

queued:
	atomic {
		connected[me] && !locked[me] && !write_space[me] ->
		locked[me] = true;
#if MUTANT != NO_USERS
		users++
#endif
	}
	credit_take(ok);
	if
	:: ok
	:: else ->
		/* credit_wait() */
		write_space[me] = true;
#if MUTANT != NO_SECOND_LOOK
		credit_take(ok);
#endif
		if
		:: ok -> write_space[me] = false
		:: else -> atomic {
#if MUTANT != NO_STARVED
			starved[me] = true;
#endif
			goto unsent
		   }
		fi
	fi;
	/* call_marshal_and_post() */
	atomic {
		if
		:: life == UP ->
			send(1 - me, CALL, id, 0);
			rpc[id] = SENT
		:: else ->
			outstanding[me]--
		fi;
unsent:
#if MUTANT != NO_USERS
		conn_exit();
#endif
		locked[me] = false
	}
	do
	:: rpc[id] == ANSWERED -> break
	:: rpc[id] == QUEUED && life != CLOSING -> goto queued
	:: atomic {
		rpc[id] == SENT && kills > 0 ->
		kills--;
		rpc[id] = KILLED;
		done[me]++;
#if MUTANT == KILLED_CREDIT
		outstanding[me]--;
#endif
		break
	   }
#if MUTANT == SENT_TWICE
	:: atomic {
		rpc[id] == SENT && life == UP && losses > 0 &&
		outstanding[me] < granted[me] ->
		losses--;
		outstanding[me]++;
		send(1 - me, CALL, id, 0)
	   }
#endif
	/* xprt_op_timer(), when no other step is possible */
	:: atomic {
		timeout && rpc[id] == SENT && life == UP ->
		assert(unanswered);
		conn_close()
	   }
	od
}

/* credit_starved() */
proctype starving(byte me)
{
end:
	do
	:: atomic {
		timeout && starved[me] && life == UP ->
		assert(unanswered);
		conn_close()
	   }
	od
}

/*
 * rpcrdma2_credits_answer(), or only rpcrdma2_credits_update(). The new grant is set before the
 * answer's credit returns. If memory for Receives is lacking, the grant is lower.
 */
inline credits_update(me, grant, answered)
{
	if
#if MUTANT != NO_CLAMP
	:: grant < 1 -> grant = 1
#endif
	:: else
	fi;
#if MUTANT == GRANT_FIRST
	granted[me] = grant;
#endif
	atomic {
		do
		:: backed[me] < grant && life == UP ->
			backed[me]++;
			recv_put(me)
		:: backed[me] < grant ->
			grant = backed[me];
			break
		:: else -> break
		od
	}
	granted[me] = grant;
	outstanding[me] = outstanding[me] - (answered && outstanding[me]);
	atomic {
		starved[me] = starved[me] && !answered;
		write_space[me] = false
	}
}

/* rpcrdma2_dispatch(), and the functions that it calls */
proctype cq(byte me)
{
	mtype kind;
	byte id, grant;
	bool matched;

end:
	do
	:: atomic {
		to[me] ? kind, id, grant ->
		users++
	   }
	   if
	   :: kind == CONNPROP ->
		atomic {
			if
			:: life == UP ->
				send(1 - me, CONNPROP_ANSWER, 0, CALLS_IN(me))
			:: else
			fi
		}
		atomic {
			recv_put(me);
			connected[me] = true
		}
	   :: kind == CONNPROP_ANSWER ->
		recv_put(me);
		credits_update(me, grant, 0);
		connected[me] = true
	   :: kind == CALL ->
		/* rpcrdma2_responder_take() */
		atomic {
			connected[me] = true;
			assert(calls[me] < CALLS_IN(me));
			calls[me]++;
			jobs[me] ! id
		}
	   :: else ->
		/* rpcrdma2_reply_receive() */
		atomic {
			assert(rpc[id] == SENT || rpc[id] == KILLED);
			matched = rpc[id] == SENT;
			if
			:: matched -> rpc[id] = PINNED
			:: else
			fi
		}
		if
		:: kind == REPLY ->
			credits_update(me, grant, 1)
		:: else ->
			/* The credit field of an RDMA2_ERROR is no grant. */
			grant = granted[me];
#if MUTANT == ERROR_KEEPS_CREDIT
			credits_update(me, grant, 0)
#else
			credits_update(me, grant, 1)
#endif
		fi;
		/* The RPC of a short Reply may go on before the Receive is back. ... */
		if
		:: matched && kind == REPLY ->
			atomic {
				rpc[id] = ANSWERED;
				done[me]++;
				matched = false
			}
		:: skip
		fi;
		/* ... Otherwise, the Receive goes back first, and then the RPC goes on. */
		atomic {
			recv_put(me);
			if
			:: matched && kind == REPLY ->
				rpc[id] = ANSWERED;
				done[me]++
			:: matched && kind == ERROR -> rpc[id] = QUEUED
			:: else
			fi
		}
	   fi;
	   atomic {
		conn_exit();
		kind = 0;
		id = 0;
		grant = 0;
		matched = false
	   }
	od
}

inline give_credit(me)
{
	calls[me]--
}

/* A thread that answers Calls. Its job may outlive the connection. */
proctype thread(byte me; byte nr)
{
	mtype kind;
	byte id, grant;

end:
	do
	:: atomic {
		jobs[me] ? id ->
		owned[nr] = true
	   }
	   atomic {
		if
		:: !owned[nr] -> goto next
		:: owned[nr] && drops > 0 ->
			drops--;
			unanswered = true;
			give_credit(me);
			recv_put(me);
			goto next
		:: owned[nr] && errors > 0 ->
			errors--;
			kind = ERROR
		:: owned[nr] ->
			kind = REPLY
		fi;
		/* The peer may be another implementation, so a grant of 0 is possible. */
		if
		:: grant = 0
		:: grant = CALLS_IN(me)
		fi;
		users++
	   }
	   /* rpcrdma2_job_give_credit(), and then the Send */
#if MUTANT != LATE_CREDIT
	   give_credit(me);
#endif
#if MUTANT != LATE_RECEIVE
	   recv_put(me);
#endif
	   atomic {
		if
		:: life == UP -> send(1 - me, kind, id, grant)
		:: else
		fi
	   }
#if MUTANT == LATE_CREDIT
	   give_credit(me);
#endif
#if MUTANT == LATE_RECEIVE
	   recv_put(me);
#endif
	   atomic {
		conn_exit();
next:
		owned[nr] = false;
		kind = 0;
		id = 0;
		grant = 0
	   }
	od
}

inline conn_new(me)
{
	granted[me] = 1;
	outstanding[me] = 0;
	calls[me] = 0;
	backed[me] = CALLS_OUT(me) > 0;
	posted[me] = CALLS_IN(me) + CONTROL + backed[me]
}

inline conn_lost(me)
{
	do
	:: to[me] ? _, _, _
	:: empty(to[me]) -> break
	od;
	do
	:: jobs[me] ? _
	:: empty(jobs[me]) -> break
	od;
	connected[me] = false;
	starved[me] = false;
	write_space[me] = false
}

/*
 * Makes the connection of both ends, and tears it down. An end knows only the last connection. A
 * client connects for a Call. If all modelled Calls are answered and only callbacks are left,
 * that Call is another one, which renews the lease, for example.
 */
active proctype connection()
{
	byte i;

	do
	:: done[CLIENT] == CALLS && done[SERVER] == CALLBACKS -> break
	:: atomic {
		done[CLIENT] + done[SERVER] < RPCS && life == DOWN ->
		conn_new(CLIENT);
		conn_new(SERVER);
		unanswered = false;
		life = UP;
		if
		:: send(SERVER, CONNPROP, 0, 0)
		/* Version 1: the server learns the version from the first Call. */
		:: connected[CLIENT] = true;
		   connected[SERVER] = done[CLIENT] == CALLS
		fi
	   }
	:: atomic {
		life == UP && losses > 0 ->
		losses--;
		life = CLOSING
	   }
	/* conn_teardown() */
	:: atomic {
		life == CLOSING && users == 0 ->
		conn_lost(CLIENT);
		conn_lost(SERVER);
		for (i : 0 .. RPCS - 1) {
			if
			:: rpc[i] == SENT -> rpc[i] = QUEUED
			:: else
			fi
		}
		for (i : 0 .. THREADS) {
			owned[i] = false
		}
		i = 0;
		life = DOWN
	   }
	od
}

init
{
	byte i;

	atomic {
		for (i : 0 .. CALLS - 1) {
			run task(CLIENT, i)
		}
		for (i : CALLS .. RPCS - 1) {
			run task(SERVER, i)
		}
		for (i : 0 .. THREADS - 1) {
			run thread(SERVER, i)
		}
		run thread(CLIENT, THREADS);
		run starving(CLIENT);
		run starving(SERVER);
		run cq(CLIENT);
		run cq(SERVER)
	}
}
