/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mimic: an RDMA device for tests, in software, both of whose ends are in the same
 * kernel. README.md says what it is for and how it is used.
 *
 *   device.c	registration, limits, ports
 *   profile.c	what it can pass itself off as
 *   count.c	what it counts
 *   memory.c	PDs, registrations; from a key and an address to memory
 *   iommu.c	a PCI device whose DMA an IOMMU translates
 *   queue.c	rings of work requests
 *   cq.c	completion queues and vectors
 *   qp.c	queue pairs and shared receive queues, as verbs
 *   engine.c	executes work requests
 *   fault.c	what is to go wrong, by debugfs
 *   gsi.c	QP 1 and address handles, for the CM of RoCE
 *   iwarp.c	the CM of iWARP
 *
 * Locks: mimic_qp.target; in it, a Queue's lock or those of registrations; in these, a
 * CQ's lock. Those of Queues and CQs are taken with interrupts off, as verbs may be
 * called so; the others with softirqs off, as the engine is a tasklet.
 * QPs and registrations are looked up under RCU, and destroyed after a grace period.
 */
#ifndef _MIMIC_H
#define _MIMIC_H

#include <linux/interrupt.h>
#include <linux/llist.h>
#include <linux/smp.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "compat.h"

#define MIMIC_MAX_SGE		96
#define MIMIC_GSI_QPN		1
/* DMA addresses are off by so much: what the DMA API did not give is no address. */
#define MIMIC_DMA_OFFSET	BIT_ULL(46)

/**
 * struct mimic_profile - a device that this one can pass itself off as
 * @name: of its driver, and model
 * @iwarp: iWARP, else RoCE v2
 * @no_fast_reg: lacks memory management extensions
 * @local_dma_lkey: has a key for all of memory
 * @sg_gaps: has registrations that bridge gaps
 * @no_local_inv: refuses LOCAL_INV when it is posted
 * @head_is_bad: calls the head of a chain the bad one, whichever it refused
 * @late_reads: an RDMA Read may complete after a later Send
 * @destroy_flushes: destroying a QP waits for a workqueue that has no rescuer
 * @max_send_sge: of a Send or RDMA Write
 * @max_recv_sge: of a Receive
 * @max_sge_rd: of an RDMA Read
 * @max_sgl_rd: largest number of SGEs for which Reads should not use registrations
 * @max_fast_reg: pages of a registration
 * @max_qp_wr: entries of a Queue
 * @max_cqe: entries of a CQ
 * @rd_atom: RDMA Reads it answers at a time
 * @init_rd_atom: RDMA Reads it makes at a time
 * @max_srq_wr: entries of a shared receive queue; 0: it has none
 * @vectors: completion vectors, at most one for each CPU
 * @wqe_base: octets of a Send Queue entry without SGEs
 * @wqe_sge: octets that each SGE adds
 * @wqe_unit: an entry is a multiple of so many octets
 * @sq_reserve: octets of a Send Queue that are no entries
 * @sq_octets: the largest Send Queue
 * @sq_rounds: a Send Queue's octets are a power of two
 * @sq_reports: create_qp returns the entries that came of it
 * @events: QP events that it raises
 */
struct mimic_profile {
	const char	*name;
	u32		iwarp : 1,
			no_fast_reg : 1,
			local_dma_lkey : 1,
			sg_gaps : 1,
			no_local_inv : 1,
			head_is_bad : 1,
			late_reads : 1,
			destroy_flushes : 1,
			sq_rounds : 1,
			sq_reports : 1;
	u32		max_send_sge;
	u32		max_recv_sge;
	u32		max_sge_rd;
	u32		max_sgl_rd;
	u32		max_fast_reg;
	u32		max_qp_wr;
	u32		max_cqe;
	u32		rd_atom;
	u32		init_rd_atom;
	u32		max_srq_wr;
	u32		vectors;
	u32		wqe_base;
	u32		wqe_sge;
	u32		wqe_unit;
	u32		sq_reserve;
	u32		sq_octets;
	u32		events;
};

/**
 * struct mimic_vector - a completion vector
 * @cpu: where its handlers run
 * @csd: gets there
 * @tasklet: calls handlers
 * @pending: CQs that have something new
 */
struct mimic_vector {
	int			cpu;
	call_single_data_t	csd;
	struct tasklet_struct	tasklet;
	struct llist_head	pending;
};

struct mimic_faults {
	spinlock_t		lock;	/* the list, and what it holds */
	struct list_head	list;
	unsigned int		count;
	unsigned int		clears;
	wait_queue_head_t	cleared;	/* verbs that are delayed */
	struct dentry		*dir;
};

/* What is counted, by the names that rxe has for it in hw_counters */
enum mimic_count {
	MIMIC_SENT_RNR,		/* no Receive for what arrived */
	MIMIC_GOT_RNR,		/* the other end had none */
	MIMIC_RNR_EXCEEDED,	/* ... for too long */
	MIMIC_COUNTS
};

struct mimic_dev {
	struct ib_device	ib;
	struct net_device	*netdev;
	struct mimic_profile	limits;
	int			engine_cpu;	/* of all QPs; -1: the doorbell's */
	u32			index;
	bool			port_down;
	bool			dead;	/* by a fault, until it is removed */
	struct xarray		mrs;
	u8			next_key;
	struct mimic_vector	*vectors;
	atomic64_t		counts[MIMIC_COUNTS];
	struct mimic_qp		*gsi;
	struct mimic_faults	faults;
	bool			translated;	/* its DMA, by an IOMMU */
};

struct mimic_pd {
	struct ib_pd		ib;
};

/* A part of a registration; of all but those that bridge gaps, a page */
struct mimic_range {
	dma_addr_t		addr;
	u32			length;
};

/**
 * struct mimic_mr - a registration
 * @ib: its keys name it in mimic_dev.mrs, but for the lowest octet
 * @rcu: it is freed by
 * @lock: against changing it twice at a time
 * @users: transfers that use its memory; waited for when it is no longer valid
 * @all: all of memory, at DMA addresses
 * @valid: it may be used
 * @key: the key that may be used
 * @access: how
 * @iova: first address
 * @length: octets
 * @gaps: its ranges have any length; else they are pages
 * @page_shift: size of its pages
 * @max_ranges: how many ranges there may be
 * @nr_ranges: ranges that were mapped last
 * @second: the second half of @ranges is in use
 * @ranges: twice @max_ranges: those in use, and those that were mapped since, for the
 *	next REG_MR
 */
struct mimic_mr {
	struct ib_mr		ib;
	struct rcu_head		rcu;
	spinlock_t		lock;	/* key, validity */
	atomic_t		users;
	bool			all;
	bool			valid;
	u32			key;
	int			access;
	u64			iova;
	u64			length;
	bool			gaps;
	u32			page_shift;
	u32			max_ranges;
	u32			nr_ranges;
	bool			second;
	struct mimic_range	ranges[];
};

/**
 * struct mimic_wqe - an entry of a Queue
 * @cqe: who is told
 * @opcode: of a Send Queue entry
 * @flags: IB_SEND_...
 * @judged: its fault has been dealt with
 * @status: how it ended, once it was executed
 * @passed: later Sends were let by
 * @moved: octets of an RDMA Read or Write that are where they belong
 * @remote_addr: of RDMA Read and Write
 * @rkey: of RDMA Read and Write; to be invalidated; the new key of a registration
 * @access: of a registration
 * @mr: to be registered
 * @imm: immediate data
 * @dest: device that a datagram goes to, by its index
 * @dest_qpn: QP that it goes to
 * @sgid: its source
 * @dgid: its destination
 * @num_sge: entries of @sge
 * @sge: local memory
 */
struct mimic_wqe {
	struct ib_cqe		*cqe;
	enum ib_wr_opcode	opcode;
	u32			flags;
	bool			judged;
	bool			passed;
	u8			status;
	u32			moved;
	u64			remote_addr;
	u32			rkey;
	int			access;
	struct mimic_mr		*mr;
	__be32			imm;
	u32			dest;
	u32			dest_qpn;
	union ib_gid		sgid;
	union ib_gid		dgid;
	u32			num_sge;
	struct ib_sge		sge[];
};

/**
 * struct mimic_queue - a ring of work requests
 * @lock: all of it
 * @ring: entries
 * @stride: octets of each
 * @entries: how many may be in use
 * @size: how many there are, a power of two
 * @max_sge: SGEs of each
 * @head: number of the next to be posted
 * @tail: number of the oldest that is not done with
 */
struct mimic_queue {
	spinlock_t		lock;	/* the ring */
	void			*ring;
	u32			stride;
	u32			entries;
	u32			size;
	u32			max_sge;
	u32			head;
	u32			tail;
};

/**
 * struct mimic_srq - a shared receive queue
 * @ib: the core's part
 * @rq: its Receives
 * @limit: an event is raised when fewer are left; 0: none. Changed below the lock of @rq
 * @failed: the device gave it up: nobody finds a Receive there
 * @event_work: raises what is due
 */
struct mimic_srq {
	struct ib_srq		ib;
	struct mimic_queue	rq;
	u32			limit;
	bool			failed;
	struct work_struct	event_work;
};

/**
 * struct mimic_cqe - an entry of a CQ, as long as those of devices are
 * @cqe: who is told
 * @qp: whose it is; NULL: nobody's any more
 * @byte_len: as in struct ib_wc
 * @ex: handle, or immediate data
 * @src_qp: as in struct ib_wc
 * @frees: Send Queue entries that are free once it was seen
 * @status: enum ib_wc_status
 * @opcode: enum ib_wc_opcode
 * @flags: enum ib_wc_flags
 * @network_hdr_type: as in struct ib_wc
 */
struct mimic_cqe {
	struct ib_cqe		*cqe;
	struct ib_qp		*qp;
	u32			byte_len;
	u32			ex;
	u32			src_qp;
	u32			frees;
	u8			status;
	u8			opcode;
	u8			flags;
	u8			network_hdr_type;
} __aligned(64);

struct mimic_cq {
	struct ib_cq		ib;
	spinlock_t		lock;	/* the ring, armed */
	struct mimic_cqe	*ring;
	u32			entries;
	u32			head;
	u32			tail;
	bool			armed;
	bool			overrun;
	struct mimic_vector	*vector;
	struct llist_node	node;
	unsigned long		pending;
};

/**
 * struct mimic_qp - a queue pair
 * @ib: the core's part
 * @dev: its device
 * @sq: Send Queue. Its lock is for posters; the engine needs it to move the tail
 * @rq: Receive Queue; the engine of the other end delivers below its lock
 * @taken: a Receive that is being filled
 * @target: held by the other end's engine while it reaches this QP
 * @state: written below @target, so that after ERR nothing reaches it
 * @attr: what modify_qp said so far
 * @cap: what create_qp said
 * @sig_all: every WR of the Send Queue is signaled
 * @slots: entries of the Send Queue that are free; one is again when a completion
 *	that comes after it was polled
 * @executed: entries of the Send Queue were, up to here; those behind its tail wait
 *	for their completions
 * @silent: by a fault: there are no completions for Sends until @speaks, in jiffies
 * @speaks: see @silent
 * @speak: runs the engine then
 * @unreported: entries that are done with, and no completion says so yet
 * @engine: executes the Send Queue, and flushes both
 * @kick: gets to its CPU, if that is another
 * @kicked: it is on its way
 * @later: runs the engine again
 * @waits: until then, it executes nothing
 * @rnr_left: how often to try again if the other end has no Receive
 * @last_wqe: in ERR, it was said that no Receive of a shared queue is taken any more
 * @halted: by a fault: nothing is executed until the QP is moved to ERR
 * @events: to be raised, by event
 * @event_work: raises them
 * @refs: of the iWARP CM, and one
 * @unused: completed when there are none
 * @ep: iWARP endpoint
 */
struct mimic_qp {
	struct ib_qp		ib;
	struct mimic_dev	*dev;
	struct mimic_queue	sq;
	struct mimic_queue	rq;
	struct mimic_wqe	*taken;
	spinlock_t		target;	/* state, against what the other end does */
	enum ib_qp_state	state;
	struct ib_qp_attr	attr;
	struct ib_qp_cap	cap;
	bool			sig_all;
	atomic_t		slots;
	u32			executed;
	bool			silent;
	unsigned long		speaks;
	struct delayed_work	speak;
	u32			unreported;
	struct tasklet_struct	engine;
	call_single_data_t	kick;
	unsigned long		kicked;
	struct delayed_work	later;
	bool			waits;
	u32			rnr_left;
	bool			last_wqe;
	bool			halted;
	unsigned long		events;
	struct work_struct	event_work;
	refcount_t		refs;
	struct completion	unused;
	struct mimic_ep		*ep;
};

struct mimic_ah {
	struct ib_ah		ib;
	struct rdma_ah_attr	attr;
	u32			dest;
	union ib_gid		sgid;
	union ib_gid		dgid;
};

static inline struct mimic_dev *to_mimic(struct ib_device *ib)
{
	return container_of(ib, struct mimic_dev, ib);
}

static inline struct mimic_cq *to_mimic_cq(struct ib_cq *ib)
{
	return container_of(ib, struct mimic_cq, ib);
}

static inline struct mimic_qp *to_mimic_qp(struct ib_qp *ib)
{
	return container_of(ib, struct mimic_qp, ib);
}

static inline struct mimic_srq *to_mimic_srq(struct ib_srq *ib)
{
	return container_of(ib, struct mimic_srq, ib);
}

static inline struct mimic_mr *to_mimic_mr(struct ib_mr *ib)
{
	return container_of(ib, struct mimic_mr, ib);
}

static inline struct mimic_ah *to_mimic_ah(struct ib_ah *ib)
{
	return container_of(ib, struct mimic_ah, ib);
}

/* device.c */
extern struct xarray mimic_devs;
extern struct xarray mimic_qps;
extern struct workqueue_struct *mimic_wq;
extern struct workqueue_struct *mimic_flushed_wq;
void mimic_remove(struct mimic_dev *dev);

/* profile.c */
int mimic_limits(struct mimic_profile *limits);
void mimic_set_attr(const struct mimic_profile *limits,
		    struct ib_device_attr *attr);
int mimic_sq_size(const struct mimic_profile *limits, struct ib_qp_cap *cap);

/* count.c */
void mimic_count(struct mimic_dev *dev, enum mimic_count what);
struct rdma_hw_stats *mimic_alloc_stats(struct ib_device *ib, u32 port);
int mimic_get_stats(struct ib_device *ib, struct rdma_hw_stats *stats, u32 port,
		    int index);

/* memory.c */
int mimic_alloc_pd(struct ib_pd *pd, struct ib_udata *udata);
int mimic_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata);
struct ib_mr *mimic_get_dma_mr(struct ib_pd *pd, int access);
struct ib_mr *mimic_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
				u64 virt_addr, int access, MIMIC_DMAH_ARG
				struct ib_udata *udata);
struct ib_mr *mimic_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max);
int mimic_map_mr_sg(struct ib_mr *mr, struct scatterlist *sg, int nents,
		    unsigned int *offset);
int mimic_dereg_mr(struct ib_mr *mr, struct ib_udata *udata);
bool mimic_mr_register(struct mimic_mr *mr, struct ib_pd *pd, u32 key,
		       int access);
bool mimic_mr_invalidate(struct mimic_dev *dev, struct ib_pd *pd, u32 key,
			 bool remote);

/**
 * struct mimic_side - one side of a transfer
 * @dev: whose memory it is
 * @pd: where the keys belong
 * @access: what they must allow: 0, or IB_ACCESS_...
 * @sge: what is left of the present one is @left, from @addr on
 * @num_sge: SGEs that are left, with the present one
 * @addr: next address
 * @left: octets of the present SGE
 * @mr: its registration, in use; NULL if it has the device's key
 */
struct mimic_side {
	struct mimic_dev	*dev;
	struct ib_pd		*pd;
	int			access;
	const struct ib_sge	*sge;
	u32			num_sge;
	u64			addr;
	u32			left;
	struct mimic_mr		*mr;
};

/* What became of a transfer: who was wrong */
enum mimic_fault_of { MIMIC_FINE, MIMIC_TO, MIMIC_FROM, MIMIC_TOO_LONG };

void *mimic_at_dma(const struct mimic_dev *dev, dma_addr_t addr, u32 length, bool write);
bool mimic_put(struct mimic_side *to, const void *from, u32 length);
enum mimic_fault_of mimic_move(struct mimic_side *to, struct mimic_side *from,
			       u32 *moved);
u32 mimic_sge_octets(const struct ib_sge *sge, u32 num_sge);

/* iommu.c */
#if IS_ENABLED(CONFIG_INTEL_IOMMU) || IS_ENABLED(CONFIG_ARM_SMMU_V3)
struct device *mimic_iommu_device(void);
phys_addr_t mimic_iommu_at(dma_addr_t addr, bool write);
int mimic_iommu_init(void);
void mimic_iommu_exit(void);
#else
static inline struct device *mimic_iommu_device(void)
{
	return NULL;
}

static inline phys_addr_t mimic_iommu_at(dma_addr_t addr, bool write)
{
	return 0;
}

static inline int mimic_iommu_init(void)
{
	return 0;
}

static inline void mimic_iommu_exit(void)
{
}
#endif

/* queue.c */
int mimic_queue_init(struct mimic_queue *q, u32 entries, u32 max_sge);
void mimic_queue_free(struct mimic_queue *q);
struct mimic_wqe *mimic_queue_at(const struct mimic_queue *q, u32 number);
int mimic_queue_recv(struct mimic_queue *q, const struct ib_recv_wr *wr);

/* cq.c */
int mimic_vectors_init(struct mimic_dev *dev);
void mimic_vectors_exit(struct mimic_dev *dev);
int mimic_create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
		    struct mimic_create_cq_arg *unused);
int mimic_destroy_cq(struct ib_cq *cq, struct ib_udata *udata);
int mimic_poll_cq(struct ib_cq *cq, int max, struct ib_wc *wc);
int mimic_req_notify_cq(struct ib_cq *cq, enum ib_cq_notify_flags flags);
void mimic_complete(struct ib_cq *cq, const struct ib_wc *wc, u32 frees);
void mimic_cq_forget(struct ib_cq *cq, struct ib_qp *qp);

/* qp.c */
int mimic_create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr,
		    struct ib_udata *udata);
int mimic_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata);
int mimic_query_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init);
int mimic_destroy_qp(struct ib_qp *qp, struct ib_udata *udata);
int mimic_post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad);
int mimic_post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad);
int mimic_create_srq(struct ib_srq *srq, struct ib_srq_init_attr *attr,
		     struct ib_udata *udata);
int mimic_modify_srq(struct ib_srq *srq, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata);
int mimic_query_srq(struct ib_srq *srq, struct ib_srq_attr *attr);
int mimic_destroy_srq(struct ib_srq *srq, struct ib_udata *udata);
int mimic_post_srq_recv(struct ib_srq *srq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad);
void mimic_qp_state(struct mimic_qp *qp, enum ib_qp_state state);
void mimic_qp_event(struct mimic_qp *qp, enum ib_event_type event);
void mimic_qp_put(struct mimic_qp *qp);

/* engine.c */
int mimic_step_of(const struct mimic_qp *qp, enum ib_wr_opcode opcode);
void mimic_fall(struct mimic_qp *qp);
void mimic_engine(struct tasklet_struct *t);

/* fault.c */

/* Where faults strike: the opcodes of WRs, the CM's messages, and verbs */
enum mimic_step {
	MIMIC_SEND,
	MIMIC_SEND_INV,
	MIMIC_WRITE,
	MIMIC_READ,
	MIMIC_REG_MR,
	MIMIC_LOCAL_INV,
	MIMIC_RECV,
	MIMIC_MAD,
	MIMIC_REQ,
	MIMIC_REP,
	MIMIC_RTU,
	MIMIC_DREQ,
	MIMIC_DREP,
	MIMIC_CREATE_CQ,
	MIMIC_CREATE_SRQ,
	MIMIC_CREATE_QP,
	MIMIC_MODIFY_QP,
	MIMIC_TO_ERR,
	MIMIC_DESTROY_QP,
	MIMIC_ALLOC_MR,
	MIMIC_DEREG_MR,
	MIMIC_CONNECT,
	MIMIC_ACCEPT,
	MIMIC_STEPS
};

enum mimic_action {
	MIMIC_NO_FAULT,
	MIMIC_REFUSE,
	MIMIC_STALL,
	MIMIC_FAIL,
	MIMIC_DELAY,
	MIMIC_LATE,
	MIMIC_LOSE,
	MIMIC_RNR,
	MIMIC_REJECT,
	MIMIC_NO_DATA,
	MIMIC_QP_FATAL,
	MIMIC_SRQ_FATAL,
	MIMIC_DEVICE_FATAL,
	MIMIC_PORT_DOWN,
	MIMIC_REMOVE,
	MIMIC_ACTIONS
};

/**
 * struct mimic_verdict - what is to go wrong
 * @action: how
 * @value: a status of a completion, a reason to reject, or milliseconds
 */
struct mimic_verdict {
	enum mimic_action	action;
	unsigned int		value;
};

void mimic_faults_init(struct mimic_dev *dev);
void mimic_faults_exit(struct mimic_dev *dev);
void mimic_faults_setup(void);
void mimic_faults_cleanup(void);
struct mimic_verdict mimic_strike(struct mimic_dev *dev, enum mimic_step step,
				  bool posting);
int mimic_refuse(struct mimic_dev *dev, enum mimic_step step);
void mimic_port(struct mimic_dev *dev, bool up);

/* gsi.c */
int mimic_create_ah(struct ib_ah *ah, struct rdma_ah_init_attr *attr,
		    struct ib_udata *udata);
int mimic_destroy_ah(struct ib_ah *ah, u32 flags);
int mimic_query_ah(struct ib_ah *ah, struct rdma_ah_attr *attr);
struct mimic_qp *mimic_datagram_dest(const struct mimic_wqe *wqe);
enum mimic_step mimic_cm_step(const struct mimic_dev *dev, const struct mimic_wqe *wqe);
void mimic_reject(const struct mimic_dev *dev, const struct mimic_wqe *wqe, u16 reason);
void mimic_strip(const struct mimic_dev *dev, const struct mimic_wqe *wqe);
void mimic_fill_grh(struct ib_grh *grh, const struct mimic_wqe *wqe);

/* iwarp.c */
extern const struct ib_device_ops mimic_iwarp_ops;
int mimic_iwarp_init(void);
void mimic_iwarp_exit(void);
void mimic_iwarp_lost(struct mimic_qp *qp);
void mimic_iwarp_forget(struct mimic_qp *qp);

#endif /* _MIMIC_H */
