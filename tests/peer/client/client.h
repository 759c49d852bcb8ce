/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations that the files of the hostile client share. run.c lists the cases. Each other
 * file has the cases of one subject.
 */
#ifndef CLIENT_H
#define CLIENT_H

#include "../messages.h"
#include "../peer.h"

/* Contents of the server's file */
#define DATA		"hostile\n"
#define DATA_LEN	65536

/* The server's first and largest credit grants, and the size of its Receive buffers */
#define FIRST_GRANTED	4
#define GRANTED		64
#define SERVER_RBSIZ	12288

/* The server's limits: chunks in a list, segments in a chunk */
#define MAX_CHUNKS	8
#define MAX_SEGMENTS	272

/* Segments of all Read chunks together, if each takes a registration */
#define IWARP_READ_SEGMENTS	64

/* Octets for a chunk list in hex */
#define LIST_TEXT	32768

/*
 * An attack of one message, and the server's reaction. The server may send an answer. Then it
 * closes the connection (CLOSES), or still serves an honest Call (STAYS).
 */
enum end { STAYS, CLOSES };

struct attack {
	const char	*name;
	const char	*message;
	const char	*answer;
	enum end	end;
};

/* attacks.c; an attack without a name ends each list. */
extern const struct attack attacks_first[];
extern const struct attack attacks_prefix[];
extern const struct attack attacks_lists[];
extern const struct attack attacks_rpc[];
/* version_1.c */
extern const struct attack attacks_1_first[];
extern const struct attack attacks_1[];

/* Attacks of several messages; a test without a name ends each list. */
extern const struct test cut_tests[];
extern const struct test terms_tests[];
extern const struct test chunk_tests[];
extern const struct test handle_tests[];
extern const struct test invalidate_tests[];
extern const struct test room_tests[];
extern const struct test credit_tests[];
extern const struct test read_tests[];
extern const struct test abandon_tests[];
extern const struct test flood_tests[];
extern const struct test flood_1_tests[];
extern const struct test cut_1_tests[];
extern const struct test version_1_tests[];
extern const struct test text_2016_tests[];
extern const struct test change_tests[];

/*
 * NFSv4.0, because it needs no session: (root) LOOKUP "data", READ and LOOKUP "sink",
 * WRITE
 */
#define COMPOUND	"%08x 00000000 00000002 000186a3 00000004 00000001 " \
			"00000001 00000014 00000000 00000000 00000000 " \
			"00000000 00000000 00000000 00000000 00000000 00000000 "
#define COMPOUND_REPLY	"%08x 00000001 00000000 00000000 00000000 00000000 " \
			"00000000 00000000 "
#define ANYONE		"00000000 00000000 00000000 00000000 "
#define LOOKUP_DATA	"00000018 0000000f 00000004 64617461 "
#define LOOKUP_SINK	"00000018 0000000f 00000004 73696e6b "
#define LOOKED_UP	"00000018 00000000 0000000f 00000000 "
/* Format: count */
#define READ		"00000019 " ANYONE "0000000000000000 %08x "
#define READ_CALL	COMPOUND "00000003 " LOOKUP_DATA READ
/* Formats: end of file, count */
#define READ_DONE	"00000019 00000000 %08x %08x "
#define READ_REPLY	COMPOUND_REPLY "00000003 " LOOKED_UP READ_DONE
/* Format: count; the data follow, at this position */
#define WRITE_CALL	COMPOUND "00000003 " LOOKUP_SINK "00000026 " ANYONE \
			"0000000000000000 00000001 %08x "
#define WRITE_POSITION	124
/* Format: count */
#define WRITE_REPLY	COMPOUND_REPLY "00000003 " LOOKED_UP \
			"00000026 00000000 %08x xxxxxxxx xxxxxxxxxxxxxxxx "

#define REPLY_HEAD	"%08x " VERS GRANT "00000000 " REPLY_FLAGS
#define CALL_HEAD	"%08x " VERS REQUEST "00000000 " CALL_FLAGS
#define A_SEGMENT	"%08x %08x %016lx "

/* XID of all messages that need no other */
static const unsigned int xid = 0x11223344;

/* common.c */
struct connection *first_message(void);
void negotiate(struct connection *c);
struct connection *ready(void);
struct connection *ready_with(unsigned int recvs);
void earn(struct connection *c);
struct connection *stuck(unsigned int calls);
void stays(struct connection *c);
void attack(struct connection *c, const struct attack *a);
void attack_as_written(struct connection *c, const struct attack *a);

unsigned long long server_counter(const char *name);
uint64_t address(const struct memory *m);
void check_data(const struct memory *m, unsigned int offset, unsigned int len);
void say_read(struct connection *c, unsigned int id, unsigned int count,
	      uint32_t handle, unsigned int offered, uint64_t offset);
void expect_read(struct connection *c, unsigned int count, uint32_t handle,
		 uint64_t offset);

/* terms.c, changes.c, handles.c, room.c */
void never_speaks(void);
void takes_nothing(void);
void read_to_window(struct connection *c, uint32_t inv_handle, uint32_t handle,
		    const struct memory *m);
void expect_limit(struct connection *c, unsigned int limit);

#endif /* CLIENT_H */
