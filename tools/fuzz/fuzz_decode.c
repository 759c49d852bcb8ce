// SPDX-License-Identifier: GPL-2.0
/*
 * Feeds arbitrary octets to each decoder in wire/. An accepted header must be
 * consistent, and survive encoding and decoding. A refused message must leave an answer
 * that can be sent.
 *
 * With libFuzzer, LLVMFuzzerTestOneInput() is the entry point. With STANDALONE, the
 * program damages valid messages, from a seed, for a given time.
 */
#include <stdio.h>
#include <stdlib.h>
#include "wire_test.h"

/* indexed by codec */
static unsigned long accepted[WIRE_NR_CODECS + 1], refused[WIRE_NR_CODECS + 1];

static void complain(const char *what, const char *wrong, const u8 *octets,
		     size_t len)
{
	size_t i;

	fprintf(stderr, "%s: %s:\n", what, wrong);
	for (i = 0; i < len; i++)
		fprintf(stderr, "%s%02x", i % 4 ? "" : " ", octets[i]);
	fprintf(stderr, "\n");
	abort();
}

static void try_message(u32 codec, bool expects_reply, const u8 *octets,
			size_t len)
{
	static struct rpcrdma2_header hdr;
	const char *wrong;
	size_t rest;
	int rc;

	hdr.response = expects_reply;
	rc = wire_decode(codec, octets, len, &hdr, &rest);
	switch (rc) {
	case 0:
		accepted[codec]++;
		wrong = wire_check_accepted(codec, &hdr, rest);
		if (!wrong)
			wrong = wire_check_round_trip(codec, &hdr, rest);
		break;
	case -EBADMSG:
		refused[codec]++;
		wrong = wire_check_refused(codec, &hdr);
		break;
	default:
		wrong = "not an error that a decoder returns";
	}
	if (wrong)
		complain(wire_dialect(codec)->name, wrong, octets, len);
}

static void try_props(u32 codec, const u8 *octets, size_t len)
{
	struct rpcrdma2_props props;
	struct xdr_stream xdr;
	struct xdr_buf buf;
	void *copy = malloc(len);

	if (!copy)
		return;
	memcpy(copy, octets, len);
	rpcrdma2_stream_decode(&xdr, &buf, copy, len);
	if (!rpcrdma2_decode_props(&xdr, wire_dialect(codec)->props, &props) &&
	    (props.rbsiz < 1024 || props.rbsiz % 4 || props.brs > 2 ||
	     props.remote_inv > 1 || props.changes > 1 ||
	     (props.wished_rbsiz && props.wished_rbsiz < 1024)))
		complain("properties", "impossible values", octets, len);
	free(copy);
}

static void try_private_data(const u8 *octets, size_t len)
{
	struct rpcrdma2_private_data pd, again;
	u8 block[RPCRDMA2_PRIVATE_DATA_LEN];
	void *copy = malloc(len);

	if (!copy)
		return;
	memcpy(copy, octets, len);
	if (rpcrdma2_decode_private_data(copy, len, &pd)) {
		rpcrdma2_encode_private_data(block, &pd);
		if (!rpcrdma2_decode_private_data(block, sizeof(block), &again))
			complain("private data", "lost", octets, len);
		if (pd.remote_inv != again.remote_inv ||
		    pd.send_size != again.send_size ||
		    pd.recv_size != again.recv_size)
			complain("private data", "changed", octets, len);
	}
	free(copy);
}

int LLVMFuzzerTestOneInput(const u8 *octets, size_t len);

int LLVMFuzzerTestOneInput(const u8 *octets, size_t len)
{
	if (len > WIRE_ROOM)
		return 0;
	try_message(WIRE_V1, false, octets, len);
	try_message(WIRE_V1, true, octets, len);
	try_message(WIRE_V2, len % 8, octets, len);
	try_message(WIRE_V2_01, len % 8, octets, len);
	try_props(WIRE_V2, octets, len);
	try_props(WIRE_V2_01, octets, len);
	if (len > 20)
		try_props(WIRE_V2, octets + 20, len - 20);
	if (len > 28)
		try_props(WIRE_V2_01, octets + 28, len - 28);
	try_private_data(octets, len);
	return 0;
}

#ifdef STANDALONE
#include <time.h>

#define BATCH	10000

static void one_message(struct wire_rng *rng)
{
	static struct rpcrdma2_header scratch;
	static struct wire_msg msg;
	unsigned int n;

	wire_random_message(rng, &scratch, &msg);
	for (n = wire_random_below(rng, 5); n; n--)
		wire_mutate(rng, &msg);
	LLVMFuzzerTestOneInput(msg.octets, msg.len);
}

static void one_private_data(struct wire_rng *rng)
{
	static const u8 magic[] = { 0xf6, 0xab, 0x0e, 0x18, 1 };
	u8 octets[200];
	size_t i, len = wire_random_below(rng, sizeof(octets) + 1);
	size_t at = wire_random_below(rng, sizeof(octets) - sizeof(magic));

	for (i = 0; i < sizeof(octets); i++)
		octets[i] = wire_random(rng);
	memcpy(octets + at, magic, sizeof(magic));
	try_private_data(octets, len);
}

static int usage(const char *name)
{
	fprintf(stderr, "Usage: %s [SECONDS [SEED]]\n", name);
	return 2;
}

int main(int argc, char **argv)
{
	long seconds = argc > 1 ? atol(argv[1]) : 20;
	struct wire_rng rng = { argc > 2 ? strtoull(argv[2], NULL, 0) : 1 };
	time_t end = time(NULL) + seconds;
	unsigned long batches = 0;
	bool lame = false;
	int i;

	if (argc > 3 || seconds <= 0)
		return usage(argv[0]);
	printf("# damaged messages for %ld s, seed %#llx\n", seconds,
	       rng.state);
	fflush(stdout);
	while (time(NULL) < end) {
		for (i = 0; i < BATCH; i++) {
			one_message(&rng);
			one_private_data(&rng);
		}
		batches++;
	}
	/* With too few messages of either kind, this run has tested too little. */
	for (i = 1; i <= WIRE_NR_CODECS; i++) {
		lame = lame || accepted[i] < batches * BATCH / 100 ||
		       refused[i] < batches * BATCH / 100;
		printf("# %s: %lu accepted, %lu refused\n", wire_dialect(i)->name,
		       accepted[i], refused[i]);
	}
	printf("%d passed, %d failed, 0 skipped\n", !lame, lame);
	return lame;
}
#endif /* STANDALONE */
