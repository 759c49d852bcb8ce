/* SPDX-License-Identifier: GPL-2.0 */
/* The inside of a connection, for connect.c and transfer.c only */
#ifndef CONNECTION_H
#define CONNECTION_H

#include "peer.h"

#define MAX_RECVS	256

struct arrival {
	unsigned int	buffer;
	unsigned int	len;
};

/* A WR's id is the number of a Receive buffer, or one of these. */
enum { SEND_ID = MAX_RECVS, WRITE_ID, BIND_ID };

struct connection {
	struct options			options;
	struct rdma_event_channel	*channel;
	struct rdma_cm_id		*id;
	struct ibv_pd			*pd;
	struct ibv_comp_channel		*completions;
	struct ibv_cq			*cq;
	unsigned char			*buffers;
	struct ibv_mr			*buffers_mr;
	unsigned char			*send_buffer;
	struct ibv_mr			*send_mr;
	struct arrival			arrivals[MAX_RECVS];
	unsigned int			first_arrival;
	unsigned int			nr_arrivals;
	int				held;
	bool				send_done;
	unsigned int			sends_out;
	bool				broken;
	bool				closed;
	unsigned char			private_data[256];
	unsigned int			private_len;
};

/* connect.c */
int left_ms(int64_t deadline);
struct rdma_cm_event *cm_event(struct rdma_event_channel *channel,
			       int timeout_ms);

/* transfer.c */
void *allocate(size_t len);
struct ibv_mr *enlist(struct connection *c, void *p, size_t len, int access);

#endif /* CONNECTION_H */
