// SPDX-License-Identifier: GPL-2.0
/*
 * Protection domains, registrations, and the lookup of memory by key and address.
 *
 * Every address must come from the DMA API for this device. Without an IOMMU, addresses
 * differ from physical ones by MIMIC_DMA_OFFSET, so that an address that was never
 * mapped is an error. With bounce buffers, a missing sync or a mapping in the wrong
 * direction gives wrong data.
 *
 * Owns mimic_dev.mrs. Verbs run in process context; the engine copies with softirqs
 * off, under RCU.
 */
#include <linux/highmem.h>

#include "mimic.h"

/*
 * The device's own key. Keys of registrations have an index from 1 on in the bits above
 * 8.
 */
#define LOCAL_DMA_LKEY	1

/**
 * mimic_alloc_pd - alloc_pd verb
 * @pd: the PD
 * @udata: not used
 *
 * Context: process.
 *
 * Return: 0.
 */
int mimic_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	if (to_mimic(pd->device)->limits.local_dma_lkey)
		pd->device->local_dma_lkey = LOCAL_DMA_LKEY;
	return 0;
}

/**
 * mimic_dealloc_pd - dealloc_pd verb
 * @pd: the PD
 * @udata: not used
 *
 * Context: process.
 *
 * Return: 0.
 */
int mimic_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static struct ib_mr *mr_new(struct ib_pd *pd, u32 max_ranges, bool gaps)
{
	struct mimic_dev *dev = to_mimic(pd->device);
	struct mimic_mr *mr;
	u32 index;
	int rc;

	mr = kvzalloc(struct_size(mr, ranges, 2 * max_ranges), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	spin_lock_init(&mr->lock);
	mr->max_ranges = max_ranges;
	mr->gaps = gaps;
	rc = xa_alloc(&dev->mrs, &index, mr, XA_LIMIT(1, 0xffffff), GFP_KERNEL);
	if (rc) {
		kvfree(mr);
		return ERR_PTR(rc);
	}
	/* The low octet changes, so that a stale key with a reused index is refused. */
	mr->ib.lkey = index << 8 | dev->next_key++;
	mr->ib.rkey = mr->ib.lkey;
	mr->key = mr->ib.lkey;
	return &mr->ib;
}

/**
 * mimic_get_dma_mr - get_dma_mr verb: register all of memory
 * @pd: the PD
 * @access: IB_ACCESS_... to grant
 *
 * Context: process, may sleep.
 *
 * Return: the registration, or an ERR_PTR().
 */
struct ib_mr *mimic_get_dma_mr(struct ib_pd *pd, int access)
{
	struct ib_mr *ib = mr_new(pd, 0, false);
	struct mimic_mr *mr;

	if (IS_ERR(ib))
		return ib;
	mr = to_mimic_mr(ib);
	mr->ib.pd = pd;
	mr->all = true;
	mr->access = access;
	mr->valid = true;
	return ib;
}

/* ! The reg_user_mr verb, which the core requires. There are no users. */
struct ib_mr *mimic_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
				u64 virt_addr, int access, MIMIC_DMAH_ARG
				struct ib_udata *udata)
{
	return ERR_PTR(-EOPNOTSUPP);
}

/**
 * mimic_alloc_mr - alloc_mr verb
 * @pd: the PD
 * @type: IB_MR_TYPE_MEM_REG, or IB_MR_TYPE_SG_GAPS if the device has it
 * @max: pages, or ranges if the type is IB_MR_TYPE_SG_GAPS
 *
 * Context: process, may sleep.
 *
 * Return: the registration, or an ERR_PTR(): -EINVAL for a type or a size that the
 *	device lacks, -ENOMEM, or an error that a fault asks for.
 */
struct ib_mr *mimic_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max)
{
	struct mimic_dev *dev = to_mimic(pd->device);
	bool gaps = type == IB_MR_TYPE_SG_GAPS;
	int rc;

	if (type != IB_MR_TYPE_MEM_REG && !(gaps && dev->limits.sg_gaps))
		return ERR_PTR(-EINVAL);
	if (!max || max > dev->limits.max_fast_reg)
		return ERR_PTR(-EINVAL);
	rc = mimic_refuse(dev, MIMIC_ALLOC_MR);
	return rc ? ERR_PTR(rc) : mr_new(pd, max, gaps);
}

/* The list of ranges that is in use, or the list that the next REG_MR puts into use */
static struct mimic_range *ranges_of(struct mimic_mr *mr, bool next)
{
	return mr->ranges + (mr->second != next ? mr->max_ranges : 0);
}

static bool mr_add_range(struct mimic_mr *mr, dma_addr_t addr, u32 length)
{
	if (mr->nr_ranges == mr->max_ranges)
		return false;
	ranges_of(mr, true)[mr->nr_ranges++] = (struct mimic_range) {
		.addr = addr, .length = length,
	};
	return true;
}

static int set_page(struct ib_mr *ib, u64 addr)
{
	return mr_add_range(to_mimic_mr(ib), addr, ib->page_size) ? 0 : -ENOMEM;
}

/* The registration starts at its first range and is as long as all ranges together. */
static int map_ranges(struct mimic_mr *mr, struct scatterlist *sgl, int nents,
		      unsigned int *offset)
{
	u32 skip = offset ? *offset : 0, length;
	struct scatterlist *sg;
	int i;

	mr->ib.iova = sg_dma_address(sgl) + skip;
	mr->ib.length = 0;
	for_each_sg(sgl, sg, nents, i) {
		length = sg_dma_len(sg) - skip;
		if (!mr_add_range(mr, sg_dma_address(sg) + skip, length))
			break;
		mr->ib.length += length;
		skip = 0;
	}
	if (offset)
		*offset = 0;
	return i;
}

/**
 * mimic_map_mr_sg - map_mr_sg verb
 * @ib: the registration
 * @sg: scatterlist, DMA-mapped
 * @nents: entries of @sg
 * @offset: octets of the first entry to skip; may be NULL
 *
 * Fills the list of ranges that is not in use. The next REG_MR puts that list into use.
 *
 * Context: process, may sleep.
 *
 * Return: entries that fit into the registration, or a negative errno.
 */
int mimic_map_mr_sg(struct ib_mr *ib, struct scatterlist *sg, int nents,
		    unsigned int *offset)
{
	struct mimic_mr *mr = to_mimic_mr(ib);

	/* The driver of hns may sleep here, so callers must not be atomic. */
	might_sleep();
	mr->nr_ranges = 0;
	if (mr->gaps)
		return map_ranges(mr, sg, nents, offset);
	return ib_sg_to_pages(ib, sg, nents, offset, set_page);
}

static void mr_release(struct rcu_head *rcu)
{
	kvfree(container_of(rcu, struct mimic_mr, rcu));
}

/* Once this returns, no transfer uses the memory. The caller holds mr->lock. */
static void end_use(struct mimic_mr *mr)
{
	WRITE_ONCE(mr->valid, false);
	/* Full barrier between @valid and @users; mr_use() has the other one. */
	smp_mb();
	while (atomic_read(&mr->users))
		cpu_relax();
}

/**
 * mimic_dereg_mr - dereg_mr verb
 * @ib: the registration
 * @udata: not used
 *
 * Waits for transfers that use the memory.
 *
 * Context: process.
 *
 * Return: 0, or an error that a fault asks for.
 */
int mimic_dereg_mr(struct ib_mr *ib, struct ib_udata *udata)
{
	struct mimic_mr *mr = to_mimic_mr(ib);
	int rc = mr->all ? 0 : mimic_refuse(to_mimic(ib->device), MIMIC_DEREG_MR);

	if (rc)
		return rc;
	xa_erase(&to_mimic(ib->device)->mrs, ib->lkey >> 8);
	spin_lock_bh(&mr->lock);
	end_use(mr);
	spin_unlock_bh(&mr->lock);
	call_rcu(&mr->rcu, mr_release);
	return 0;
}

/**
 * mimic_mr_register - execute REG_MR
 * @mr: the registration
 * @pd: PD of the QP
 * @key: new key; it differs from the old one in the low octet only
 * @access: IB_ACCESS_... to grant
 *
 * Context: softirqs off.
 *
 * Return: false if @mr is valid already, belongs to another PD, or can't have @key.
 */
bool mimic_mr_register(struct mimic_mr *mr, struct ib_pd *pd, u32 key,
		       int access)
{
	bool ok;

	spin_lock(&mr->lock);
	ok = !mr->valid && mr->ib.pd == pd && key >> 8 == mr->ib.lkey >> 8;
	if (ok) {
		mr->key = key;
		mr->access = access;
		mr->iova = mr->ib.iova;
		mr->length = mr->ib.length;
		mr->page_shift = ilog2(mr->ib.page_size);
		mr->second = !mr->second;
		/*
		 * Pairs with the acquire in mr_allows(): a valid registration has all
		 * its fields.
		 */
		smp_store_release(&mr->valid, true);
	}
	spin_unlock(&mr->lock);
	return ok;
}

/**
 * mimic_mr_invalidate - execute LOCAL_INV, or the invalidation by a Send With Invalidate
 * @dev: device that the key belongs to
 * @pd: PD of the QP
 * @key: key to invalidate
 * @remote: the peer asks for it, so the registration must be valid
 *
 * Waits for transfers that use the memory.
 *
 * Context: softirqs off, in an RCU read-side critical section.
 *
 * Return: false if the key names no registration of @pd that can be invalidated.
 */
bool mimic_mr_invalidate(struct mimic_dev *dev, struct ib_pd *pd, u32 key,
			 bool remote)
{
	struct mimic_mr *mr = xa_load(&dev->mrs, key >> 8);
	bool ok;

	if (!mr)
		return false;
	spin_lock(&mr->lock);
	ok = !mr->all && mr->ib.pd == pd && mr->key == key &&
	     (mr->valid || !remote);
	if (ok)
		end_use(mr);
	spin_unlock(&mr->lock);
	return ok;
}

/* Without an IOMMU, DMA addresses are off by MIMIC_DMA_OFFSET. */
static phys_addr_t to_phys(const struct mimic_dev *dev, dma_addr_t addr, bool write)
{
	if (dev->translated)
		return mimic_iommu_at(addr, write);
	return addr < MIMIC_DMA_OFFSET ? 0 : addr - MIMIC_DMA_OFFSET;
}

/**
 * mimic_at_dma - find the memory at a DMA address
 * @dev: the device
 * @addr: DMA address
 * @length: octets; without an IOMMU they may cross pages, with one they may not, unless
 *	the memory is contiguous
 * @write: the device writes to the memory; else it reads
 *
 * Context: any.
 *
 * Return: the memory's address in the kernel; NULL if @addr is no DMA address, or the
 *	mapping does not allow the access. The log then has an error.
 */
void *mimic_at_dma(const struct mimic_dev *dev, dma_addr_t addr, u32 length, bool write)
{
	phys_addr_t from = to_phys(dev, addr, write), to = from + length - 1;

	if (!from || !pfn_valid(PHYS_PFN(from)) || !pfn_valid(PHYS_PFN(to))) {
		pr_err_ratelimited("mimic: ERROR: %pad is no DMA address that this device may %s\n",
				   &addr, write ? "write to" : "read");
		return NULL;
	}
	return phys_to_virt(from);
}

static bool mr_allows(const struct mimic_mr *mr, const struct mimic_side *side,
		      u32 key, u64 addr, u32 length)
{
	/* Pairs with the release in mimic_mr_register(). */
	if (!smp_load_acquire(&mr->valid) || mr->key != key || mr->ib.pd != side->pd ||
	    (mr->access & side->access) != side->access)
		return false;
	return mr->all || (addr >= mr->iova && length <= mr->length &&
			   addr - mr->iova <= mr->length - length);
}

static bool mr_use(struct mimic_mr *mr, const struct mimic_side *side,
		   const struct ib_sge *sge)
{
	atomic_inc(&mr->users);
	/* Full barrier between @users and @valid; end_use() has the other one. */
	smp_mb__after_atomic();
	if (mr_allows(mr, side, sge->lkey, sge->addr, sge->length))
		return true;
	atomic_dec(&mr->users);
	return false;
}

/* Start the next SGE. Return: false if its key does not allow the transfer. */
static bool side_next(struct mimic_side *side)
{
	const struct ib_sge *sge = side->sge++;
	struct mimic_mr *mr;

	side->num_sge--;
	side->addr = sge->addr;
	side->left = sge->length;
	side->mr = NULL;
	if (sge->lkey == LOCAL_DMA_LKEY && side->dev->limits.local_dma_lkey)
		return !(side->access & ~IB_ACCESS_LOCAL_WRITE);
	mr = xa_load(&side->dev->mrs, sge->lkey >> 8);
	if (!mr || !mr_use(mr, side, sge))
		return false;
	side->mr = mr;
	return true;
}

static void side_end(struct mimic_side *side)
{
	if (side->mr) {
		/* Finish copying before end_use() sees the decrement. */
		smp_mb__before_atomic();
		atomic_dec(&side->mr->users);
	}
	side->mr = NULL;
}

/*
 * DMA address that is registered as @addr; shortens *@length to the end of the range.
 */
static u64 mr_memory(struct mimic_mr *mr, u64 addr, u32 *length)
{
	const struct mimic_range *range = ranges_of(mr, false);
	u64 offset = addr - mr->iova;

	if (mr->gaps) {
		/* mr_allows() has checked that the offset is in one of the ranges. */
		for (; offset >= range->length; range++)
			offset -= range->length;
	} else {
		/* The registration may start inside its first page. */
		offset += mr->iova & (BIT(mr->page_shift) - 1);
		range += offset >> mr->page_shift;
		offset &= BIT(mr->page_shift) - 1;
	}
	*length = min_t(u32, *length, range->length - offset);
	return range->addr + offset;
}

/* Contiguous memory at the current address; shortens *@length to its end. */
static void *side_memory(const struct mimic_side *side, u32 *length)
{
	bool write = side->access & (IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
	u64 addr = side->addr;

	*length = min(*length, side->left);
	if (side->mr && !side->mr->all)
		addr = mr_memory(side->mr, addr, length);
	/* Pages that are contiguous for the device may lie apart in physical memory. */
	if (side->dev->translated)
		*length = min_t(u32, *length, PAGE_SIZE - offset_in_page(addr));
	return mimic_at_dma(side->dev, addr, *length, write);
}

/*
 * Move to an SGE with octets left. Return: 1; 0 if there is none; -EACCES if a key does
 * not allow the transfer.
 */
static int side_ready(struct mimic_side *side)
{
	while (!side->left) {
		side_end(side);
		if (!side->num_sge)
			return 0;
		if (!side_next(side))
			return -EACCES;
	}
	return 1;
}

/**
 * mimic_put - write octets that are in no registration, such as a header
 * @to: destination, which advances by @length
 * @from: the octets
 * @length: number of octets
 *
 * The caller may continue to write to @to with mimic_move(), which releases its
 * registration.
 *
 * Context: softirqs off, in an RCU read-side critical section.
 *
 * Return: false if @to has no room or its key does not allow the write. @to is unusable
 *	then.
 */
bool mimic_put(struct mimic_side *to, const void *from, u32 length)
{
	void *dst;
	u32 n;

	for (; length; length -= n, from += n) {
		n = length;
		dst = side_ready(to) > 0 ? side_memory(to, &n) : NULL;
		if (!dst) {
			side_end(to);
			return false;
		}
		memcpy(dst, from, n);
		to->addr += n;
		to->left -= n;
	}
	return true;
}

/**
 * mimic_move - copy from one side to the other
 * @to: destination
 * @from: source; all of its SGEs are copied
 * @moved: receives the number of octets copied, also after a failure
 *
 * Context: softirqs off, in an RCU read-side critical section.
 *
 * Return: the side at fault, or MIMIC_FINE.
 */
enum mimic_fault_of mimic_move(struct mimic_side *to, struct mimic_side *from,
			       u32 *moved)
{
	enum mimic_fault_of fault = MIMIC_FINE;
	void *dst, *src;
	int rc;
	u32 n;

	*moved = 0;
	for (;;) {
		rc = side_ready(from);
		if (rc <= 0) {
			fault = rc ? MIMIC_FROM : MIMIC_FINE;
			break;
		}
		rc = side_ready(to);
		if (rc <= 0) {
			fault = rc ? MIMIC_TO : MIMIC_TOO_LONG;
			break;
		}
		n = from->left;
		src = side_memory(from, &n);
		dst = src ? side_memory(to, &n) : NULL;
		if (!dst) {
			fault = src ? MIMIC_TO : MIMIC_FROM;
			break;
		}
		memcpy(dst, src, n);
		from->addr += n;
		from->left -= n;
		to->addr += n;
		to->left -= n;
		*moved += n;
	}
	side_end(from);
	side_end(to);
	return fault;
}

/**
 * mimic_sge_octets - add up the lengths of SGEs
 * @sge: the SGEs
 * @num_sge: how many they are
 *
 * Context: any.
 *
 * Return: octets.
 */
u32 mimic_sge_octets(const struct ib_sge *sge, u32 num_sge)
{
	u32 octets = 0;

	while (num_sge--)
		octets += sge[num_sge].length;
	return octets;
}
