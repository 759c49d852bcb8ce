/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mimic: an RDMA device in software, for tests. Both ends of each connection are in the
 * same kernel. README.md says what mimic can do and how a test uses it. This header has
 * every struct of the driver, and each file's functions for the others.
 *
 *	device.c	registers a device, creates its DMA parent, reports ports
 *	profile.c	the limits of real devices
 *	count.c		counters in sysfs
 *	memory.c	PDs, registrations; finds memory by key and address
 *	iommu.c		DMA as a PCI device behind an IOMMU
 *	queue.c		rings of work requests
 *	cq.c		completion queues and completion vectors
 *	qp.c		verbs of queue pairs and shared receive queues
 *	engine.c	executes work requests
 *	fault.c		faults that a test asks for, in debugfs
 *	gsi.c		QP 1 and address handles, for the CM of RoCE
 *	iwarp.c		the CM of iWARP
 */
#ifndef _MIMIC_H
#define _MIMIC_H

#include <linux/interrupt.h>
#include <linux/llist.h>
#include <linux/smp.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "compat.h"

/*
 * Locks. Inside mimic_qp.target nest the locks of Receive Queues, registrations, CQs and
 * faults. Inside a Send Queue's lock nests only mimic_faults.lock. No other two nest.
 *
 * ULPs call verbs with interrupts off, so the locks of Queues, CQs and faults disable
 * interrupts. The engine is a tasklet, so mimic_qp.target and mimic_mr.lock disable softirqs.
 * RCU readers look up QPs and registrations, whose memory outlives a grace period.
 */

#define MIMIC_MAX_SGE		96
#define MIMIC_GSI_QPN		1
/*
 * A DMA address is the physical address plus this, so an address that was never mapped
 * fails.
 */
#define MIMIC_DMA_OFFSET	BIT_ULL(46)

/**
 * struct mimic_profile - limits and habits of a real device
 * @name: name of the driver, or of driver and model
 * @iwarp: the device speaks iWARP; else RoCE v2
 * @no_fast_reg: the device lacks memory management extensions
 * @local_dma_lkey: the device has one key for all of local memory
 * @sg_gaps: the device has IB_MR_TYPE_SG_GAPS
 * @no_local_inv: ib_post_send() refuses LOCAL_INV
 * @head_is_bad: a refused chain's bad_wr is always its head
 * @late_reads: a later Send may overtake an RDMA Read
 * @destroy_flushes: destroying a QP flushes a workqueue without WQ_MEM_RECLAIM
 * @max_send_sge: SGEs of a Send or an RDMA Write
 * @max_recv_sge: SGEs of a Receive
 * @max_sge_rd: SGEs of an RDMA Read
 * @max_sgl_rd: with more SGEs than these, a Read should use a registration
 * @max_fast_reg: pages of a registration
 * @max_qp_wr: entries of a Queue
 * @max_cqe: entries of a CQ
 * @rd_atom: RDMA Reads that a QP answers at a time
 * @init_rd_atom: RDMA Reads that a QP makes at a time
 * @max_srq_wr: entries of a shared receive queue; 0: the device has none
 * @vectors: completion vectors; override() lowers this to the number of CPUs
 * @wqe_base: octets of a Send Queue entry without SGEs
 * @wqe_sge: octets that each SGE adds to an entry
 * @wqe_unit: entries are rounded up to a multiple of this many octets
 * @sq_reserve: octets of a Send Queue that hold no entries
 * @sq_octets: octets of the largest Send Queue
 * @sq_rounds: the octets of a Send Queue are rounded up to a power of two
 * @sq_reports: ib_create_qp() returns the number of entries after rounding
 * @events: QP events that the driver raises, one bit for each
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
 * @cpu: CPU where its handlers run
 * @csd: interrupts @cpu
 * @tasklet: calls the CQs' handlers on @cpu
 * @pending: CQs with new completions
 */
struct mimic_vector {
	int			cpu;
	call_single_data_t	csd;
	struct tasklet_struct	tasklet;
	struct llist_head	pending;
};

struct mimic_faults {
	spinlock_t		lock;	/* @list and its faults */
	struct list_head	list;
	unsigned int		count;
	unsigned int		clears;
	wait_queue_head_t	cleared;	/* verbs that a fault delays */
	struct dentry		*dir;
};

/* Counters that hw_counters shows, by the names that rxe gives them */
enum mimic_count {
	MIMIC_SENT_RNR,		/* a message found no Receive */
	MIMIC_GOT_RNR,		/* the peer had no Receive for a message */
	MIMIC_RNR_EXCEEDED,	/* the same, once too often */
	MIMIC_COUNTS
};

struct mimic_dev {
	struct ib_device	ib;
	struct net_device	*netdev;
	struct mimic_profile	limits;
	int			engine_cpu;	/* for all QPs; -1: the posting CPU */
	u32			index;
	bool			port_down;
	bool			dead;	/* a fault killed the device */
	struct xarray		mrs;
	u8			next_key;
	struct mimic_vector	*vectors;
	atomic64_t		counts[MIMIC_COUNTS];
	struct mimic_qp		*gsi;
	struct mimic_faults	faults;
	bool			translated;	/* an IOMMU translates its DMA */
};

struct mimic_pd {
	struct ib_pd		ib;
};

/*
 * A range of registered memory: one page, or any length if the registration bridges
 * gaps
 */
struct mimic_range {
	dma_addr_t		addr;
	u32			length;
};

/**
 * struct mimic_mr - a registration
 * @ib: the core's part; the upper 24 bits of its keys are the index in mimic_dev.mrs
 * @rcu: frees the registration after a grace period
 * @lock: serializes changes of @key and @valid
 * @users: transfers that use the memory; invalidation waits for them
 * @all: the registration covers all of memory, by DMA address
 * @valid: transfers may use the registration
 * @key: the key that a transfer must name
 * @access: IB_ACCESS_... that the registration grants
 * @iova: first address
 * @length: octets
 * @gaps: ranges have any length; else each is a page
 * @page_shift: binary logarithm of the page size
 * @max_ranges: capacity of one list of ranges
 * @nr_ranges: ranges of the list that was mapped last
 * @second: the second list in @ranges is in use
 * @ranges: two lists of @max_ranges each. One is in use; ib_map_mr_sg() fills the
 *	other, and REG_MR swaps them
 */
struct mimic_mr {
	struct ib_mr		ib;
	struct rcu_head		rcu;
	spinlock_t		lock;	/* key, valid */
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
 * @cqe: identifies the completion to the ULP
 * @opcode: opcode of a Send Queue entry
 * @flags: IB_SEND_...
 * @judged: mimic_strike() has been asked about this entry
 * @status: completion status, once the entry was executed
 * @passed: later Sends have had their chance to overtake this Read
 * @moved: octets that an RDMA Read or Write has copied so far
 * @remote_addr: remote address of an RDMA Read or Write
 * @rkey: remote key of an RDMA Read or Write; key to invalidate; new key of a
 *	registration
 * @access: IB_ACCESS_... of a registration
 * @mr: registration that REG_MR makes valid
 * @imm: immediate data
 * @dest: index of the device that receives a datagram
 * @dest_qpn: number of the QP that receives a datagram
 * @sgid: source of a datagram
 * @dgid: destination of a datagram
 * @num_sge: number of entries of @sge
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
 * @lock: protects @ring, @head and @tail
 * @ring: entries
 * @stride: octets of an entry
 * @entries: how many entries may be in use
 * @size: how many entries the ring has, a power of two
 * @max_sge: SGEs of an entry
 * @head: number of the next entry to be posted
 * @tail: number of the oldest entry in use
 */
struct mimic_queue {
	spinlock_t		lock;	/* ring, head, tail */
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
 * @limit: fewer Receives than this raise an event, then this becomes 0. 0: no event.
 *	Protected by the lock of @rq
 * @failed: a fault killed the queue; no QP gets a Receive from it again
 * @event_work: calls the ULP's event handler
 */
struct mimic_srq {
	struct ib_srq		ib;
	struct mimic_queue	rq;
	u32			limit;
	bool			failed;
	struct work_struct	event_work;
};

/**
 * struct mimic_cqe - an entry of a CQ, with the size that devices use
 * @cqe: identifies the completion to the ULP
 * @qp: the QP; NULL once that QP is destroyed, and then nobody sees the entry
 * @byte_len: as in struct ib_wc
 * @ex: invalidated key, or immediate data
 * @src_qp: as in struct ib_wc
 * @frees: Send Queue entries that become free when the ULP polls this entry
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
	spinlock_t		lock;	/* ring, head, tail, armed, overrun */
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
 * @sq: Send Queue. Posters hold its lock; the engine alone moves the tail, without the
 *	lock
 * @rq: Receive Queue. The peer's engine takes Receives from it
 * @taken: copy of the Receive that a message is filling
 * @target: the peer's engine holds it while it reads or writes on this QP's behalf
 * @state: written under @target, so no message arrives after the change to ERR
 * @attr: attributes that modify_qp has set
 * @cap: capabilities that create_qp has granted
 * @sig_all: every WR of the Send Queue is signaled
 * @slots: free entries of the Send Queue. An entry is free again only when the ULP has
 *	polled its own completion or a later one
 * @executed: number of the next Send Queue entry to execute. Entries from the tail up
 *	to here await their completions
 * @silent: a fault withholds the completions of Sends until @speaks
 * @speaks: end of the silence, in jiffies
 * @speak: runs the engine at @speaks
 * @unreported: entries that ended without a completion since the last one
 * @engine: executes the Send Queue; in ERR, flushes both Queues
 * @kick: interrupts the CPU of @engine
 * @kicked: QP_KICKED is set while that interrupt is under way
 * @later: runs the engine again after a wait
 * @waits: the engine executes nothing until @later runs
 * @rnr_left: tries that remain if the peer has no Receive; 7: any number
 * @last_wqe: LAST_WQE_REACHED has been raised for this move to ERR
 * @halted: a fault stopped the engine until a move to ERR
 * @events: events to raise, one bit for each
 * @event_work: raises @events
 * @refs: references: one is the verbs', others are the iWARP CM's
 * @unused: completed when @refs drops to 0
 * @ep: iWARP endpoint
 */
struct mimic_qp {
	struct ib_qp		ib;
	struct mimic_dev	*dev;
	struct mimic_queue	sq;
	struct mimic_queue	rq;
	struct mimic_wqe	*taken;
	spinlock_t		target;	/* state; what the peer does here */
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
 * @dev: device whose memory this is
 * @pd: PD that the keys must belong to
 * @access: IB_ACCESS_... that the keys must grant; 0: to read locally
 * @sge: next SGE
 * @num_sge: number of SGEs from @sge on
 * @addr: next address in the current SGE
 * @left: octets that remain in the current SGE
 * @mr: registration of the current SGE, which this side holds in use; NULL for the
 *	device's own key
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

/* How a transfer ended: well, or by the fault of one side */
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

/* Where a fault can strike: at kinds of WRs, at messages of the CM, at verbs */
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
 * struct mimic_verdict - how a step goes wrong
 * @action: the fault
 * @value: completion status, reason to reject, or milliseconds, as @action needs
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
