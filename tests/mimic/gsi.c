// SPDX-License-Identifier: GPL-2.0
/*
 * Support for the CM of RoCE: address handles, and datagrams between QPs 1. The
 * destination's GID tells which device receives a datagram.
 *
 * Address handles are made in process context. The engine delivers datagrams, and
 * fault.c's actions change them, with softirqs off.
 */
#include <rdma/ib_cache.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_mad.h>
#include <rdma/ibta_vol1_c12.h>

#include "mimic.h"

static bool has_gid(struct mimic_dev *dev, const union ib_gid *gid)
{
	const struct ib_gid_attr *attr;

	attr = rdma_find_gid(&dev->ib, gid, IB_GID_TYPE_ROCE_UDP_ENCAP, NULL);
	if (IS_ERR(attr))
		return false;
	rdma_put_gid_attr(attr);
	return true;
}

/* Index of the device with this GID; 0 if no device has it */
static u32 find_dest(const union ib_gid *gid)
{
	struct mimic_dev *dev;
	unsigned long index;

	xa_for_each(&mimic_devs, index, dev) {
		bool found;

		if (!ib_device_try_get(&dev->ib))
			continue;
		found = has_gid(dev, gid);
		ib_device_put(&dev->ib);
		if (found)
			return index;
	}
	return 0;
}

/**
 * mimic_create_ah - create_ah verb
 * @ib: the address handle
 * @init: its attributes
 * @udata: not used
 *
 * An unknown destination is no error: datagrams to it are lost.
 *
 * Context: any.
 *
 * Return: 0.
 */
int mimic_create_ah(struct ib_ah *ib, struct rdma_ah_init_attr *init,
		    struct ib_udata *udata)
{
	const struct ib_global_route *grh;
	struct mimic_ah *ah = to_mimic_ah(ib);

	grh = rdma_ah_read_grh(init->ah_attr);
	ah->attr = *init->ah_attr;
	ah->sgid = grh->sgid_attr->gid;
	ah->dgid = grh->dgid;
	ah->dest = find_dest(&ah->dgid);
	return 0;
}

/**
 * mimic_destroy_ah - destroy_ah verb
 * @ah: the address handle
 * @flags: not used
 *
 * Context: any.
 *
 * Return: 0.
 */
int mimic_destroy_ah(struct ib_ah *ah, u32 flags)
{
	return 0;
}

/**
 * mimic_query_ah - query_ah verb
 * @ah: the address handle
 * @attr: receives its attributes
 *
 * Context: any.
 *
 * Return: 0.
 */
int mimic_query_ah(struct ib_ah *ah, struct rdma_ah_attr *attr)
{
	*attr = to_mimic_ah(ah)->attr;
	return 0;
}

/**
 * mimic_datagram_dest - find the QP that receives a datagram
 * @wqe: the datagram
 *
 * Context: in an RCU read-side critical section.
 *
 * Return: the QP, or NULL if no QP receives the datagram.
 */
struct mimic_qp *mimic_datagram_dest(const struct mimic_wqe *wqe)
{
	struct mimic_dev *dev = xa_load(&mimic_devs, wqe->dest);

	if (!dev || wqe->dest_qpn != MIMIC_GSI_QPN)
		return NULL;
	return READ_ONCE(dev->gsi);
}

/**
 * mimic_fill_grh - make the GRH that a datagram's receiver finds
 * @grh: receives the header
 * @wqe: the datagram
 *
 * Context: any.
 */
void mimic_fill_grh(struct ib_grh *grh, const struct mimic_wqe *wqe)
{
	memset(grh, 0, sizeof(*grh));
	grh->version_tclass_flow = cpu_to_be32(6 << 28);
	grh->next_hdr = 0x1b;
	grh->hop_limit = 1;
	grh->sgid = wqe->sgid;
	grh->dgid = wqe->dgid;
}

/**
 * mimic_cm_step - tell which message of the CM a datagram is
 * @dev: device that sends the datagram
 * @wqe: the datagram
 *
 * Context: any.
 *
 * Return: the step of that message, or MIMIC_MAD for any other datagram.
 */
enum mimic_step mimic_cm_step(const struct mimic_dev *dev, const struct mimic_wqe *wqe)
{
	const struct ib_mad_hdr *hdr;

	if (!wqe->num_sge || wqe->sge[0].length < sizeof(*hdr))
		return MIMIC_MAD;
	hdr = mimic_at_dma(dev, wqe->sge[0].addr, sizeof(*hdr), false);
	if (!hdr || hdr->mgmt_class != IB_MGMT_CLASS_CM)
		return MIMIC_MAD;
	switch (hdr->attr_id) {
	case CM_REQ_ATTR_ID:
		return MIMIC_REQ;
	case CM_REP_ATTR_ID:
		return MIMIC_REP;
	case CM_RTU_ATTR_ID:
		return MIMIC_RTU;
	case CM_DREQ_ATTR_ID:
		return MIMIC_DREQ;
	case CM_DREP_ATTR_ID:
		return MIMIC_DREP;
	default:
		return MIMIC_MAD;
	}
}

/**
 * mimic_reject - turn a REP into a REJ
 * @dev: device that sends the datagram
 * @wqe: the datagram, a REP
 * @reason: enum ib_cm_rej_reason
 *
 * Both messages start with the two communication identifiers, which stay.
 *
 * Context: any.
 */
void mimic_reject(const struct mimic_dev *dev, const struct mimic_wqe *wqe, u16 reason)
{
	struct cm_rej_msg *rej;

	rej = mimic_at_dma(dev, wqe->sge[0].addr, sizeof(*rej), false);
	if (!rej)
		return;
	rej->hdr.attr_id = CM_REJ_ATTR_ID;
	memset(IBA_GET_MEM_PTR(CM_REJ_ARI, rej), 0, IB_CM_REJ_ARI_LENGTH);
	memset(IBA_GET_MEM_PTR(CM_REJ_PRIVATE_DATA, rej), 0,
	       IB_CM_REJ_PRIVATE_DATA_SIZE);
	/* The REJ rejects the REQ. */
	IBA_SET(CM_REJ_MESSAGE_REJECTED, rej, 0);
	IBA_SET(CM_REJ_REJECTED_INFO_LENGTH, rej, 0);
	IBA_SET(CM_REJ_REASON, rej, reason);
}

/**
 * mimic_strip - overwrite the private data of a REP with zeros
 * @dev: device that sends the datagram
 * @wqe: the datagram, a REP
 *
 * Context: any.
 */
void mimic_strip(const struct mimic_dev *dev, const struct mimic_wqe *wqe)
{
	struct cm_rep_msg *rep;

	rep = mimic_at_dma(dev, wqe->sge[0].addr, sizeof(*rep), false);
	if (rep)
		memset(IBA_GET_MEM_PTR(CM_REP_PRIVATE_DATA, rep), 0,
		       IB_CM_REP_PRIVATE_DATA_SIZE);
}
