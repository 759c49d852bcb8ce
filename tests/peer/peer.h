/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A peer for RPC over RDMA, in user space, on librdmacm and libibverbs. No codec stands
 * between a test and the wire, so a test can send anything. The hostile client is in
 * client/, and the hostile server is in server/. Both use the other files.
 *
 * Messages are printf formats of hex, as in kunit/wire_refuse_test.c: connection_say(c,
 * CALL NOTHING "%08x ...", xid). In an expected message, an x stands for any digit.
 *
 * Each case runs in its own process. A failed expectation ends the process, and the
 * kernel cleans up what the process leaves.
 */
#ifndef PEER_H
#define PEER_H

#include <netinet/in.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rdma/rdma_cma.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Octets of the longest message that a test sends */
#define MESSAGE_MAX	49152
/* Messages in the longest chain that a test sends */
#define MAX_CHAIN	128

/* The peer takes this many messages in a row that use no credit, but not one more. */
#define MAX_UNPAID	32

/* Time to wait for something that must come. Kernels with all their checks are slow. */
#define PATIENCE_MS	40000
#define FOREVER_MS	INT32_MAX

/* octets.c */
struct octets {
	unsigned int	len;
	unsigned char	data[MESSAGE_MAX];
	unsigned char	mask[MESSAGE_MAX];
};

void octets_format(struct octets *o, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void octets_vformat(struct octets *o, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
bool octets_match(const struct octets *expected, const void *data,
		  unsigned int len);
void octets_print(const char *title, const unsigned char *data,
		  const unsigned char *mask, unsigned int len);
uint32_t word_at(const void *data, unsigned int index);

/* main.c */
extern struct sockaddr_in server_address;

void fail(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/* Exit status of a case that the device makes impossible */
#define SKIPPED	77

struct test {
	const char	*name;
	void		(*run)(void);
};

/* client/run.c */
int attack_server(char *const *texts);

/* client/abandon.c */
int linger(void);
/* client/changes.c */
int withhold(void);
/* client/flood.c */
int flood(unsigned int connections);
/* client/hold.c */
int hold(const char *name, unsigned int connections, unsigned int sources);

/* server/run.c */
void list_misbehaviours(void);
int misbehave(const char *name);

/* connect.c, transfer.c */

/**
 * struct options - how to make a connection
 * @private_data: private data for the CM
 * @private_len: octets of @private_data
 * @sends: messages that this end can send at once
 * @recvs: Receives that this end posts
 * @recv_size: octets of each Receive
 * @reads: RDMA Reads that this end answers at a time
 * @source: address of this end; NULL: the one that routing chooses
 */
struct options {
	const void	*private_data;
	uint8_t		private_len;
	unsigned int	sends;
	unsigned int	recvs;
	unsigned int	recv_size;
	uint8_t		reads;
	const char	*source;
};

extern const struct options default_options;

/* A message from the peer, valid until the next one is received */
struct message {
	const unsigned char	*data;
	unsigned int		len;
};

/* Memory that the peer may read or write */
struct memory {
	unsigned char	*data;
	unsigned int	len;
	struct ibv_mr	*mr;
};

enum happening { MESSAGE, CLOSED, SILENCE };

struct connection;

int64_t now_ms(void);
struct connection *connection_open(const struct options *options);
struct connection *connection_try(const struct options *options);
struct connection *connection_start(bool with_qp,
				    const struct options *options);
void connection_spurn(struct connection *c);
void connection_expect_wait(const struct options *options, int ms);
void connection_expect_refused(const struct options *options);
struct connection *connection_accept(struct rdma_cm_id *listener, int timeout_ms,
				     const struct options *options);
struct rdma_cm_id *connection_listen(void);
bool connection_refuse(struct rdma_cm_id *listener, int timeout_ms);
void connection_close(struct connection *c);
bool connection_is_iwarp(const struct connection *c);
void connection_needs_infiniband(const struct connection *c, const char *why);
void connection_post_receives(struct connection *c, unsigned int count);
const void *connection_private(const struct connection *c, unsigned int *len);

void connection_send(struct connection *c, const void *data, unsigned int len,
		     uint32_t invalidate);
void connection_send_chain(struct connection *c,
			   const struct octets * const *messages,
			   unsigned int count);
void connection_say(struct connection *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void connection_wait_sent(struct connection *c);
bool connection_is_over(const struct connection *c);
enum happening connection_receive(struct connection *c, struct message *m,
				  int timeout_ms);
void connection_expect_octets(struct connection *c, const struct octets *o);
void connection_expect(struct connection *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void connection_expect_closed(struct connection *c);
void connection_expect_broken(struct connection *c);
void connection_expect_silence(struct connection *c, int ms);

void memory_expose(struct connection *c, struct memory *m, unsigned int len,
		   int access);
void memory_hide(struct memory *m);
uint32_t memory_bind(struct connection *c, const struct memory *m);
void connection_write_by(struct connection *c, enum ibv_wr_opcode opcode,
			 const struct memory *from, unsigned int len,
			 uint32_t handle, uint64_t offset);
void connection_write(struct connection *c, const struct memory *from,
		      unsigned int len, uint32_t handle, uint64_t offset);

/* say.c */

/* The protocol version that the case runs in */
extern unsigned int version;

void in_this_version(struct octets *o);
void say(struct connection *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void say_at_once(struct connection *c, unsigned int times, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void expect(struct connection *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* PEER_H */
