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
 * struct owner_walk - results of the orders so far
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
 * struct owner_life - the past of an svc_xprt
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

static bool has(const struct owner_life *life, enum rpcrdma2_owner_event event)
{
	return life->happened & BIT(event);
}

/* Does sunrpc have the svc_xprt, or may it accept it? */
static bool is_sunrpcs(const struct owner_life *life)
{
	return life->offered && !has(life, RPCRDMA2_ON_TAKE_BACK) &&
	       !has(life, RPCRDMA2_ON_DETACH);
}

/* May @event follow, by the rules of conn/ and of sunrpc? */
static bool may_happen(const struct owner_life *life, enum rpcrdma2_owner_event event)
{
	if (has(life, event))
		return false;
	switch (event) {
	case RPCRDMA2_ON_READY:
		return !has(life, RPCRDMA2_ON_CLOSED);
	case RPCRDMA2_ON_CLOSING:
		return true;
	case RPCRDMA2_ON_CLOSED:
		return has(life, RPCRDMA2_ON_CLOSING);
	default:
		return is_sunrpcs(life);
	}
}

/* The action after @event, from the past alone */
static enum rpcrdma2_owner_action action_due(const struct owner_life *life,
					     enum rpcrdma2_owner_event event)
{
	bool closing = has(life, RPCRDMA2_ON_CLOSING);
	bool closed = has(life, RPCRDMA2_ON_CLOSED);

	switch (event) {
	case RPCRDMA2_ON_READY:
		return closing ? RPCRDMA2_DO_NOTHING : RPCRDMA2_DO_OFFER;
	case RPCRDMA2_ON_TAKE_BACK:
		if (closed)
			return RPCRDMA2_DO_DISCARD;
		return closing ? RPCRDMA2_DO_NOTHING : RPCRDMA2_DO_CLOSE;
	case RPCRDMA2_ON_DETACH:
		return closed ? RPCRDMA2_DO_NOTHING : RPCRDMA2_DO_KEEP;
	case RPCRDMA2_ON_CLOSING:
		return is_sunrpcs(life) ? RPCRDMA2_DO_ASK : RPCRDMA2_DO_NOTHING;
	default:
		if (is_sunrpcs(life))
			return RPCRDMA2_DO_NOTHING;
		return has(life, RPCRDMA2_ON_DETACH) ? RPCRDMA2_DO_PUT : RPCRDMA2_DO_DISCARD;
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
	KUNIT_EXPECT_EQ_MSG(walk->test, step->action, action_due(&life, event),
			    "event %d, owner %d", event, life.owner);
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
