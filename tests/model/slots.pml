/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Slots: xprt/slots.c in front of sunrpc's own, which are below a lock. Tasks on several
 * CPUs get a slot or wait for one in the backlog, may be killed there, and free it.
 *
 * Claims:
 *  1. When all have done what they can, but for RPCs that go on, nobody is in the backlog
 *     while a slot is free or kept; and so nobody is for ever.
 *  2. No slot has two owners.
 *  3. Every RPC ends: no behaviour is infinite (there is no cycle), and each ends with
 *     all RPCs done.
 *  4. XPRT_CONGESTED is not set then: who came next would wait for nobody.
 *  5. When the transport is destroyed, sunrpc has all slots back.
 *
 * A step between two semicolons is what one CPU does below sunrpc's lock, or one access
 * to memory. What a CPU stores to XPRT_CONGESTED may be late: others see it after the CPU
 * has gone on, though not after they got the lock, which is given back as late. xchg(),
 * cmpxchg() and smp_mb() wait for it.
 *
 * Each "#if MUTANT ==" is a mistake that the test wants to be found.
 */
#ifndef MUTANT
#define MUTANT NONE
#endif
#define NONE			0
#define FREER_LOOKS_ONCE	1
#define SLEEPER_LOOKS_ONCE	2
#define LOOKS_FIRST		3
#define NO_BARRIER		4
#define READ_AND_CLEAR		5
#define READ_AND_SET		6
#define HANDS_OVER_ONE		7
#define KILLED_LOOKS_ONCE	8
#define NO_DESTROY		9

#define NOBODY	255
#define NR(i)	((me + i) % PLACES)

/* Slots have numbers, from 1. */
byte kept[PLACES];

/* sunrpc's: below its lock, but for looks at congested */
mtype = { MISSING, FREE, OUT };
mtype slots[MAX + 1] = MISSING;
byte num_reqs;
chan backlog = [TASKS] of { byte };
bool congested;

/* A store to congested that others don't see yet: whose (who still has the lock), and what */
byte late_by = NOBODY;
bool late;

/* What ends a task's sleep */
byte given[TASKS];
bool killed[TASKS];

bool owned[MAX + 1];
byte done, kills = KILLS, fails = FAILS;

#define LOCK		(late_by == NOBODY)
#define SMP_MB		(late_by != me)
#define HAS_BACKLOG	(late_by == me -> late : congested)

inline store(value)
{
	if
	:: congested != value ->
		late = value;
		late_by = me
	:: else
	fi
}

/* xprt_add_backlog() */
inline add_backlog()
{
	store(true);
	backlog ! me
}

inline xprt_free_slot(s)
{
	atomic {
		LOCK ->
		if
		:: backlog ? other -> given[other] = s
		:: empty(backlog) ->
			store(false);
			if
			:: num_reqs > MIN ->
				num_reqs--;
				slots[s] = MISSING
			:: else -> slots[s] = FREE
			fi
		fi;
		other = 0;
		s = 0
	}
}

/* Looks, and then takes, in two steps */
inline take(s)
{
	do
	:: s || i == PLACES -> break
	:: !s && i < PLACES && !kept[NR(i)] -> i++
	:: !s && i < PLACES && kept[NR(i)] ->
#if MUTANT == READ_AND_CLEAR
		s = kept[NR(i)];
		kept[NR(i)] = 0;
#else
		atomic {
			SMP_MB ->
			s = kept[NR(i)];
			kept[NR(i)] = 0;
			i++
		}
#endif
	od;
	i = 0
}

/* s is 0 if it is kept. */
inline keep(s)
{
	do
	:: !s || i == PLACES -> break
	:: s && i < PLACES && kept[NR(i)] -> i++
	:: s && i < PLACES && !kept[NR(i)] ->
#if MUTANT == READ_AND_SET
		kept[NR(i)] = s;
		s = 0
#else
		atomic {
			SMP_MB ->
			if
			:: !kept[NR(i)] ->
				kept[NR(i)] = s;
				s = 0
			:: else -> i++
			fi
		}
#endif
	od;
	i = 0
}

inline hand_over(s)
{
	do
	:: take(s);
	   if
	   :: s ->
		xprt_free_slot(s);
#if MUTANT == HANDS_OVER_ONE
		if
		:: me < TASKS -> break
		:: else
		fi
#endif
	   :: else -> break
	   fi
	od
}

inline nobody_waits_for_nothing()
{
	if
	:: nempty(backlog) ->
		for (i : 0 .. PLACES - 1) {
			assert(!kept[i])
		}
		for (i : 1 .. MAX) {
			assert(slots[i] != FREE)
		}
		i = 0
	:: empty(backlog)
	fi
}

proctype task(byte me)
{
	byte slot, i, other, rpcs = RPCS;
	bool slow;

reserve:
	/* xprt_throttle_congested() */
	if
	:: HAS_BACKLOG ->
		atomic {
			LOCK ->
			if
			:: congested ->
				add_backlog();
				goto sleep
			:: else
			fi
		}
	:: else
	fi;
retry:
	/* rpcrdma2_slot_alloc() */
	take(slot);
	if
	:: slot -> goto work
	:: else
	fi;
#if MUTANT == LOOKS_FIRST
	hand_over(slot);
#endif
	/* xprt_alloc_slot() */
	atomic {
		LOCK ->
		for (i : 1 .. MAX) {
			if
			:: slots[i] == FREE -> slot = i
			:: else
			fi
		}
		if
		:: !slot && num_reqs < MAX ->
			num_reqs++;
			goto dynamic
		:: !slot && num_reqs == MAX ->
			i = 0;
			add_backlog()
		:: slot ->
			i = 0;
			slots[slot] = OUT;
			goto work
		fi
	}
#if MUTANT != NO_BARRIER
	SMP_MB;
#endif
#if MUTANT == KILLED_LOOKS_ONCE
	if
	:: killed[me] -> goto sleep
	:: else
	fi;
#endif
#if MUTANT != SLEEPER_LOOKS_ONCE && MUTANT != LOOKS_FIRST
	hand_over(slot);
#endif
sleep:
	atomic {
		if
		:: given[me] ->
			slot = given[me];
			given[me] = 0;
			goto work
		:: killed[me] -> goto end
		fi
	}
dynamic:
	/* xprt_dynamic_alloc_slot(), where it has not the lock */
	atomic {
		if
		:: fails > 0 ->
			LOCK ->
			fails--;
			num_reqs--;
			i = 0;
			goto retry
		:: true ->
			for (i : 1 .. MAX) {
				if
				:: !slot && slots[i] == MISSING ->
					slots[i] = OUT;
					slot = i
				:: else
				fi
			}
			i = 0
		fi
	}
work:
	atomic {
		assert(!owned[slot]);
		owned[slot] = true;
		if
		:: slow = true
		:: slow = false
		fi
	}
	/* One that ends whenever it likes, or one that goes on for long */
	atomic {
		if
		:: !slow
		:: slow && timeout ->
			nobody_waits_for_nothing();
			slow = false
		fi;
		owned[slot] = false
	}
	/*
	 * rpcrdma2_slot_free(). Were it not for cmpxchg()'s barrier, the second look might
	 * be no later than the first: that is FREER_LOOKS_ONCE.
	 */
	if
	:: HAS_BACKLOG -> xprt_free_slot(slot)
	:: else ->
		keep(slot);
		if
		:: slot -> xprt_free_slot(slot)
#if MUTANT != FREER_LOOKS_ONCE
		:: !slot && HAS_BACKLOG -> hand_over(slot)
#endif
		:: else
		fi
	fi;
end:
	atomic {
		killed[me] = false;
		rpcs--;
		if
		:: rpcs > 0 -> goto reserve
		:: else -> done++
		fi
	}
}

/* Stores arrive; and of those in the backlog some are killed. */
active proctype others()
{
	byte i;

end:
	do
	:: atomic {
		late_by != NOBODY ->
		congested = late;
		late = false;
		late_by = NOBODY
	   }
	:: atomic {
		kills > 0 && nempty(backlog) ->
		kills--;
		if
		:: backlog ? i
		:: len(backlog) > 1 ->
			backlog ? i;
			backlog ! i;
			backlog ? i
		fi;
		killed[i] = true;
		i = 0
	   }
	od
}

init
{
	byte me = TASKS, slot, i, other;

	atomic {
		for (i : 1 .. MIN) {
			slots[i] = FREE
		}
		num_reqs = MIN;
		for (i : 0 .. TASKS - 1) {
			run task(i)
		}
		i = 0
	}
	atomic {
		done == TASKS && LOCK ->
		assert(!congested);
		assert(empty(backlog))
	}
	/* xprt_op_destroy() */
#if MUTANT != NO_DESTROY
	hand_over(slot);
#endif
	atomic {
		LOCK ->
		for (i : 1 .. MAX) {
			num_reqs = num_reqs - (slots[i] == FREE)
		}
		assert(num_reqs == 0)
	}
}
