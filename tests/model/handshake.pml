/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Models the handshake, with the table of conn/handshake.c itself. tests/model.sh makes table.pml
 * from that table. In table.pml, step() sets action and next. The actions model
 * conn/negotiate.c, xprt/transport.c and xprt/servers.c.
 *
 * One client has one RPC for one server. Each may speak version 1, 2, or both. Version 2 has a
 * single dialect here, so the next dialect after version 2 is version 1.
 *
 * The server may also be another implementation. With version 2, it answers Calls but no CONNPROP,
 * or it advertises its own CONNPROP. Without version 2, it refuses a CONNPROP with ERR_VERS or
 * another error, hangs up, or says nothing. It may refuse version 1, too. If it hangs up or says
 * nothing on two connections in a row, the client assumes version 1. If the server has spoken
 * version 2 before, this takes five connections.
 *
 * A connection may be lost at any time, LOSSES times in all. Each time, another server may be
 * there when the client connects again.
 *
 * Claims:
 *  1. If there is a common version, the RPC gets an answer in the end. No behaviour is infinite
 *     (the check finds no cycle), and each behaviour ends with an answer.
 *  2. The RPC is refused only if there is no common version. One exception: several servers, one
 *     after the other, refuse version 1, and the client lost each after it asked for version 2.
 *  3. If no connection was lost, the ends use the highest common version.
 *  4. A Call is delivered in the version in which it was sent, and so is a Reply.
 *  5. No server hangs up on a client.
 */
#include "table.pml"

mtype = { CONNPROP, CONNPROP_ANSWER, CALL, ANSWER, ERR_VERS, ERR_OTHER };
mtype = { MODULE, NO_PROPS, ADVERTISES, SAYS_ERR_VERS, SAYS_ERROR, HANGS_UP, SILENT };

/* Kind and version word of a message; for ERR_VERS, also the sender's range of versions */
chan to_server = [2] of { mtype, byte, byte, byte };
chan to_client = [2] of { mtype, byte, byte, byte };

byte losses = LOSSES;

/* The server */
mtype make;
byte server_low, server_high;
byte server_state;

/* The client */
byte client_low, client_high;
bool known_1;		/* xprt/servers.c: this server has only version 1 */
byte suspicions;	/* xprt/connect.c: how many of the last connections looked like version 1 */
bool spoken;		/* xprt/connect.c: a server has stated its properties */
byte state;
bool up;		/* there is a connection */
bool disturbed;		/* any connection was lost; and below: the last one was lost */
bool lost;
bool answered, refused;
byte refusals;
bool asked;		/* the client asked for version 2 since the last refusal */

inline event_of(kind, vers, low, high, dialect, may_speak_1)
{
	if
	:: vers != dialect -> event = FOREIGN
	:: else ->
		if
		:: kind == CONNPROP -> event = PROPS
		:: kind == CONNPROP_ANSWER -> event = PROPS_ANSWER
		:: kind == CALL -> event = (vers == 1 -> CALL_1 : CALL_2)
		:: kind == ANSWER -> event = REPLY
		:: kind == ERR_VERS ->
			event = (may_speak_1 && low <= 1 && high >= 1 ->
				 SPEAKS_OTHER : NO_VERSION)
		:: kind == ERR_OTHER ->
			event = (may_speak_1 -> REFUSED_TRY_OTHER : ERROR)
		fi
	fi
}

/* rpcrdma2_hs_dialect() */
#define read_in(s, low, high, said) \
	(s == VERSION_1 -> 1 : (decided(s) -> 2 : \
	 (said >= low && said <= high -> said : high)))

#define decided(s)	(s >= VERSION_1 && s <= VERSION_2)
#define calls(s)	(s == TRYING || decided(s))
#define common		(client_low <= server_high && server_low <= client_high)
#define highest		(client_high < server_high -> client_high : server_high)

inline choose_versions(low, high)
{
	if
	:: low = 1; high = 2
	:: low = 1; high = 1
	:: low = 2; high = 2
	fi
}

inline choose_server()
{
	if
	:: make = MODULE; choose_versions(server_low, server_high)
	:: server_low = 1; server_high = 1;
		if
		:: make = SAYS_ERR_VERS
		:: make = SAYS_ERROR
		:: make = HANGS_UP
		:: make = SILENT
		fi
	:: server_low = 2; server_high = 2;
		if
		:: make = NO_PROPS
		:: make = ADVERTISES
		fi
	/* Only another draft of version 2 */
	:: server_low = 3; server_high = 3;
		if
		:: make = SAYS_ERROR
		:: make = HANGS_UP
		fi
	fi
}

proctype server()
{
	mtype kind;
	byte vers, low, high;
	byte dialect, event, action, next;

end:
	do
	:: atomic {
		up && nempty(to_server) ->
		to_server ? kind, vers, low, high;
		if
		:: server_low == 2 && make != MODULE ->
			if
			:: vers == 1 -> to_client ! ERR_VERS, vers, 2, 2
			:: vers == 2 && kind == CALL ->
				to_client ! ANSWER, vers, 0, 0
			:: vers == 2 && kind == CONNPROP && make == ADVERTISES ->
				to_client ! CONNPROP, vers, 0, 0
			:: else
			fi
		:: server_low == 3 && vers == 1 ->
			to_client ! ERR_VERS, vers, 2, 2
		:: make != MODULE && server_low != 2 && vers == 2 ->
			if
			:: make == SAYS_ERR_VERS -> to_client ! ERR_VERS, vers, 1, 1
			:: make == SAYS_ERROR -> to_client ! ERR_OTHER, 1, 0, 0
			:: make == HANGS_UP -> up = false
			:: else
			fi
		:: make != MODULE && server_low == 1 && vers == 1 -> to_client ! ANSWER, 1, 0, 0
		:: else ->
			dialect = read_in(server_state, server_low, server_high, vers);
			event_of(kind, vers, low, high, dialect, server_low == 1);
			step(server_state, event);
			if
			:: action == DELIVER ->
				assert(kind == CALL && vers == dialect);
				to_client ! ANSWER, vers, 0, 0
			:: action == ANSWER_PROPS ->
				to_client ! CONNPROP_ANSWER, vers, 0, 0
			:: action == ANSWER_ERROR ->
				assert(event == FOREIGN);
				to_client ! ERR_VERS, vers,
					(decided(server_state) -> dialect : server_low),
					(decided(server_state) -> dialect : server_high)
			:: else -> assert(false)
			fi;
			server_state = next
		fi;
		kind = 0; vers = 0; low = 0; high = 0;
		dialect = 0; event = 0; action = 0; next = 0
	   }
	od
}

proctype client()
{
	mtype kind;
	byte vers, low, high;
	byte dialect, event, action, next;
	bool called, by_peer, other_version, assume_1, was_ready, assumed_1;
	bool suspect_1;

connect:
	atomic {
		/* After a loss, the server may be another one. */
		if
		:: true
		:: lost -> choose_server()
		fi;
		server_state = WAITING;
		up = true;
		lost = false;
		called = false;
		by_peer = false;
		other_version = false;
		assume_1 = false;
		suspect_1 = false;
		assumed_1 = false;
		/* rpcrdma2_negotiate_start() */
		if
		:: client_high == 1 || known_1 && client_low == 1 ->
			assumed_1 = client_high == 2;
			state = VERSION_1
		:: else ->
			asked = true;
			state = ASKING;
			to_server ! CONNPROP, 2, 0, 0
		fi
	}
	do
	:: atomic {
		up && calls(state) && !called ->
		called = true;
		vers = (state == VERSION_1 -> 1 : 2);
		/* xprt_conn_ready(): the version is lower than the client could use. */
		known_1 = known_1 || vers == 1 && client_high == 2;
		to_server ! CALL, vers, 0, 0
	   }
	:: atomic {
		to_client ? kind, vers, low, high ->
		dialect = read_in(state, client_low, client_high, vers);
		event_of(kind, vers, low, high, dialect,
			 client_low == 1 && state != VERSION_1);
		step(state, event);
		if
		:: action == DELIVER ->
			assert(kind == ANSWER && called && vers == dialect);
			answered = true;
			assert(disturbed || vers == highest);
			goto over
		:: action == TAKE_PROPS -> spoken = true
		:: action == NOTHING
		:: action == ASK_NEXT -> next = VERSION_1
		:: action == ASSUME_NEXT ->
			was_ready = calls(state);
			assume_1 = client_low == 1;
			other_version = true;
			state = next;
			up = false;
			break
		:: action == HANG_UP ->
			was_ready = calls(state);
			/* negotiate_hang_up_status() */
			other_version = event == SPEAKS_OTHER || event == NO_VERSION ||
					event == ERROR;
			up = false;
			break
		:: else -> assert(false)
		fi;
		state = next
	   }
	:: atomic {
		!up && empty(to_client) ->
		was_ready = calls(state);
		by_peer = true;
		break
	   }
	/* conn_timeout(): no message is under way, and none will come. */
	:: atomic {
		timeout && up && !decided(state) ->
		step(state, SILENCE);
		if
		:: action == NOTHING -> state = next
		:: else ->
			suspect_1 = action == ASSUME_NEXT && client_low == 1;
			was_ready = calls(state);
			state = next;
			break
		fi
	   }
	od;
	/* conn_teardown() */
	atomic {
		up = false;
		do
		:: to_server ? _, _, _, _
		:: to_client ? _, _, _, _
		:: empty(to_server) && empty(to_client) -> break
		od;
		/* rpcrdma2_negotiate_lost() */
		step(state, LOST);
		suspect_1 = suspect_1 ||
			    by_peer && action == ASSUME_NEXT && client_low == 1;
		/* connect_weigh_suspicion() */
		suspicions = (suspect_1 -> suspicions + 1 : 0);
		assume_1 = assume_1 || suspicions >= (spoken -> 5 : 2);
		suspicions = (assume_1 -> 0 : suspicions);
		if
		:: assume_1 -> known_1 = true
		:: suspect_1 && !assume_1
		:: was_ready && !assume_1 && !suspect_1 ->
			/* xprt_conn_closed() */
#ifndef NEVER_FORGETS
			known_1 = known_1 && !other_version;
#endif
			/* connect_is_refused() */
			refusals = refusals + (other_version && assumed_1);
			assert(asked || refusals < 2);
			asked = asked && !other_version;
			if
#ifndef NEVER_REFUSED
			:: other_version && (!assumed_1 || refusals > 2) ->
				refused = true;
				assert(!common || disturbed && refusals > 2);
				goto over
#endif
			/* No Call is answered, so sunrpc's timeout ends the RPC. */
			:: !by_peer && !other_version ->
				refused = true;
				assert(!common);
				goto over
			:: else
			fi
		:: else ->
			/* connect_failed(): the client tries again if the connection was lost. */
			known_1 = false;
			if
			:: lost
			:: else ->
				refused = true;
				assert(!common);
				goto over
			fi
		fi;
		kind = 0; vers = 0; low = 0; high = 0;
		dialect = 0; event = 0; action = 0; next = 0;
		goto connect
	}
over:
	skip
}

/* Loses connections. A message that was under way to the client may still arrive. */
proctype network()
{
end:
	do
	:: atomic {
		losses > 0 && up ->
		losses--;
		up = false;
		disturbed = true;
		lost = true;
		if
		:: true
		:: to_client ? _, _, _, _
		fi
	   }
	od
}

init
{
	atomic {
		choose_versions(client_low, client_high);
		choose_server();
		run server();
		run client();
		run network()
	}
}
