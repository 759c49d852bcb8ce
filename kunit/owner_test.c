// SPDX-License-Identifier: GPL-2.0
/*
 * Every order of events in the life of a server's svc_xprt, against the table of its owners in
 * svc/owner.c.
 */
#include <kunit/test.h>
#include "svc/owner.h"

#define NR_OWNERS	RPCRDMA2_NR_OWNERS
#define NR_EVENTS	RPCRDMA2_NR_OWNER_EVENTS

/**
 * struct owner_walk - what the orders have shown so far
 * @test: the test
 * @taken: events that met an owner: a bit for each event, by owner
 * @nr_orders: number of orders
 */
struct owner_walk {
	struct kunit	*test;
	u8		taken[NR_OWNERS];
	unsigned int	nr_orders;
};

/**
 * struct owner_life - what has happened to an svc_xprt
 * @owner: its owner
 * @happened: a bit for each event
 * @offered: sunrpc may accept it
 * @refs: references to it: the first one, and the one that KEEP got
 */
struct owner_life {
	enum rpcrdma2_owner	owner;
	u8			happened;
	bool			offered;
	int			refs;
};

/* May @event follow, by the rules of conn/ and of sunrpc? */
static bool may_happen(const struct owner_life *life, enum rpcrdma2_owner_event event)
{
	if (life->happened & BIT(event))
		return false;
	switch (event) {
	case RPCRDMA2_ON_READY:
		return !(life->happened & BIT(RPCRDMA2_ON_CLOSED));
	case RPCRDMA2_ON_CLOSING:
		return true;
	case RPCRDMA2_ON_CLOSED:
		return life->happened & BIT(RPCRDMA2_ON_CLOSING);
	default:
		/* Either the listener closes first, or sunrpc accepts and detaches. */
		return life->offered &&
		       !(life->happened & (BIT(RPCRDMA2_ON_TAKE_BACK) | BIT(RPCRDMA2_ON_DETACH)));
	}
}

/* Do what svc/ does. */
static void act(struct owner_life *life, const struct rpcrdma2_owner_step *step)
{
	switch (step->action) {
	case RPCRDMA2_DO_OFFER:
		life->offered = true;
		break;
	case RPCRDMA2_DO_KEEP:
		life->refs++;
		break;
	case RPCRDMA2_DO_PUT:
	case RPCRDMA2_DO_DISCARD:
		life->refs--;
		break;
	}
}

static void go_on(struct owner_walk *walk, const struct owner_life *life);

static void happen(struct owner_walk *walk, struct owner_life life,
		   enum rpcrdma2_owner_event event)
{
	const struct rpcrdma2_owner_step *step = rpcrdma2_owner_step(life.owner, event);

	KUNIT_EXPECT_TRUE_MSG(walk->test, step->is_possible, "event %d, owner %d", event,
			      life.owner);
	if (!step->is_possible)
		return;
	walk->taken[life.owner] |= BIT(event);
	life.happened |= BIT(event);
	life.owner = step->next;
	act(&life, step);
	/* sunrpc drops its reference after xpo_detach. */
	if (event == RPCRDMA2_ON_DETACH)
		life.refs--;
	KUNIT_EXPECT_EQ_MSG(walk->test, life.refs > 0, life.owner != RPCRDMA2_OWNER_NONE,
			    "event %d", event);
	go_on(walk, &life);
}

static void go_on(struct owner_walk *walk, const struct owner_life *life)
{
	enum rpcrdma2_owner_event event;
	bool ends = true;

	for (event = 0; event < NR_EVENTS; event++) {
		if (!may_happen(life, event))
			continue;
		ends = false;
		happen(walk, *life, event);
	}
	if (!ends)
		return;
	KUNIT_EXPECT_EQ(walk->test, life->owner, RPCRDMA2_OWNER_NONE);
	walk->nr_orders++;
}

static void an_svc_xprt_is_dropped_once(struct kunit *test)
{
	const struct owner_life life = { .owner = RPCRDMA2_OWNER_CONN, .refs = 1 };
	struct owner_walk walk = { .test = test };
	enum rpcrdma2_owner_event event;
	enum rpcrdma2_owner owner;

	go_on(&walk, &life);
	KUNIT_EXPECT_TRUE(test, walk.nr_orders > 0);
	for (owner = 0; owner < NR_OWNERS; owner++)
		for (event = 0; event < NR_EVENTS; event++)
			KUNIT_EXPECT_EQ_MSG(test, rpcrdma2_owner_step(owner, event)->is_possible,
					    !!(walk.taken[owner] & BIT(event)),
					    "owner %d, event %d", owner, event);
}

static struct kunit_case owner_cases[] = {
	KUNIT_CASE(an_svc_xprt_is_dropped_once),
	{ }
};

static struct kunit_suite owner_suite = {
	.name		= "rpcrdma2_owner",
	.test_cases	= owner_cases,
};

kunit_test_suite(owner_suite);
