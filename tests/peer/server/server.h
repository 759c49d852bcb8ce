/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations that the files of the hostile server share. run.c lists the cases. nfs.c and
 * serve.c are the honest part. Each other file has the cases of one subject.
 */
#ifndef SERVER_H
#define SERVER_H

#include <signal.h>

#include "../messages.h"
#include "../peer.h"

/* Contents of the file */
#define DATA		"hostile\n"
#define FILE_LEN	(96 * 16384)
#define READ_MAX	32768

/* Procedures of NFS version 3 */
enum {
	GETATTR		= 1,
	LOOKUP		= 3,
	ACCESS		= 4,
	READ		= 6,
	WRITE		= 7,
	READDIR		= 16,
	READDIRPLUS	= 17,
	FSSTAT		= 18,
	FSINFO		= 19,
	PATHCONF	= 20,
};

#define MAX_SEGMENTS	8

struct segment {
	uint32_t	handle;
	uint32_t	length;
	uint64_t	offset;
};

/* A Call of the client, which is honest, so nothing checks the Call */
struct call {
	uint32_t	xid;
	uint32_t	inv_handle;
	uint32_t	procedure;
	/* the Write chunk's segments, or the Reply chunk's */
	bool		has_write;
	bool		has_reply;
	unsigned int	nsegs;
	struct segment	segments[MAX_SEGMENTS];
	/* arguments, from the first word on */
	const unsigned char *args;
};

/* run.c */
extern struct rdma_cm_id *listener;
/* the verdict for SIGTERM; SIGUSR1 has come */
extern volatile sig_atomic_t as_expected, reader_killed;
/* the client takes Calls with chunks */
extern bool takes_chunks;

/* nfs.c */
void parse_call(const struct message *m, struct call *call);
unsigned int read_count(const struct call *call);
void put_rpc(struct octets *o, const struct call *call);

/* serve.c */

/* Formats: XID, grant; handle, octets and offset of the Write chunk */
#define REPLY_TO	"%1$08x " VERS "%2$08x 00000000 " REPLY_FLAGS
#define WRITTEN		END END NEXT "00000001 %3$08x %4$08x %5$016lx " END END

/* The start of an answer to CONNPROP; the properties follow */
#define ANSWER		"00000001 " VERS "00000020 00000005 " REPLY_FLAGS

extern unsigned int grant;
/* Data of the file, for RDMA Writes */
extern struct memory file_data;

void put_header(struct octets *o, const struct call *call);
void build_reply(struct octets *o, const struct call *call);
void write_data(struct connection *c, const struct call *call);
void reply(struct connection *c, const struct call *call);
void reply_in_chunk(struct connection *c, const struct call *call, int spoil,
		    bool fill);

struct connection *next_client(const struct options *options);
void expect_connprop(struct connection *c);
void build_connprop_answer(struct octets *o);
void answer_connprop(struct connection *c);
struct connection *silent_client(void);
void greet(struct connection *c);
struct connection *greeted(void);
bool next_call(struct connection *c, struct call *call);
struct connection *at_read(struct call *call);
bool serve_until(struct connection *c, uint32_t procedure, struct call *call);
void serve(struct connection *c);
void expect_gone(struct connection *c);

/* The cases; one without a name ends each list. */
extern const struct test greeting_cases[];
extern const struct test older_cases[];
extern const struct test reply_cases[];
extern const struct test memory_cases[];
extern const struct test credit_cases[];
extern const struct test error_cases[];
extern const struct test call_cases[];
extern const struct test change_cases[];

#endif /* SERVER_H */
