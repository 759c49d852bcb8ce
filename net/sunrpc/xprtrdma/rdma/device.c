// SPDX-License-Identifier: GPL-2.0
/*
 * Devices: whether one can be used, which faults were met, and the next completion vector.
 *
 * Knows no endpoint. Remembers a device that refuses LOCAL_INV until the device is removed.
 * Setup, cleanup and a new refusal are for process context; the other functions run in any.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/xarray.h>

#include "device.h"

/*
 * Devices, by index, that refused a LOCAL_INV. hns claims to have what FRWR needs, but
 * refuses LOCAL_INV.
 */
static DEFINE_XARRAY(no_local_inv);

/**
 * rpcrdma2_device_refuses_inv - remember that a device refused a LOCAL_INV
 * @dev: the device
 *
 * Context: Process; may sleep. Called in the teardown of an endpoint that met the refusal.
 */
void rpcrdma2_device_refuses_inv(struct ib_device *dev)
{
	if (xa_load(&no_local_inv, dev->index))
		return;
	pr_warn("device %s takes no LOCAL_INV: registrations will be given up instead, which is slow\n",
		dev->name);
	xa_store(&no_local_inv, dev->index, xa_mk_value(1), GFP_KERNEL);
}

/* A new device may have the index of a removed one. */
static int device_forget(struct ib_device *dev)
{
	xa_erase(&no_local_inv, dev->index);
	return 0;
}

static struct ib_client client = {
	.name	= KBUILD_MODNAME,
	.add	= device_forget,
};

/**
 * rpcrdma2_device_setup - module initialisation
 *
 * Context: Process; sleeps.
 * Return: 0 or negative errno
 */
int rpcrdma2_device_setup(void)
{
	return ib_register_client(&client);
}

/**
 * rpcrdma2_device_cleanup - module removal
 *
 * Context: Process; sleeps.
 */
void rpcrdma2_device_cleanup(void)
{
	ib_unregister_client(&client);
	xa_destroy(&no_local_inv);
}

/**
 * rpcrdma2_device_takes_inv - has the device refused no LOCAL_INV so far?
 * @dev: the device
 *
 * Context: Any.
 * Return: false if an endpoint has met a refusal
 */
bool rpcrdma2_device_takes_inv(const struct ib_device *dev)
{
	return !xa_load(&no_local_inv, dev->index);
}

/**
 * rpcrdma2_device_check - has a device all that RPC-over-RDMA needs?
 * @dev: the device
 *
 * Chunks need FRWR and invalidation, which are part of the memory management extensions.
 *
 * Context: Any.
 * Return: 0 or -EOPNOTSUPP
 */
int rpcrdma2_device_check(const struct ib_device *dev)
{
	if (!(dev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS) ||
	    !dev->attrs.max_fast_reg_page_list_len) {
		pr_err_ratelimited("device %s lacks memory management extensions (FRWR), which RPC-over-RDMA needs: not used\n",
				   dev->name);
		return -EOPNOTSUPP;
	}
	return 0;
}

/**
 * rpcrdma2_device_sends_references - may a Send have completed before its octets are sent?
 * @dev: the device
 *
 * siw copies a Send that is signaled or shorter than %PAGE_SIZE. For any other Send, siw gives
 * TCP references to the pages, and completes the Send before TCP has sent them. The next
 * message in the buffer would overwrite this one. RDMA Writes are not at risk: no page that
 * TCP refers to gets other data (see rpcrdma2_page_is_private()).
 *
 * Context: Any.
 * Return: true if a Send of %PAGE_SIZE or more has to be signaled
 */
bool rpcrdma2_device_sends_references(const struct ib_device *dev)
{
	return dev->ops.driver_id == RDMA_DRIVER_SIW;
}

/**
 * rpcrdma2_device_answers_empty_reads - can a device of this kind answer RDMA Reads of no octets?
 * @dev: the device
 *
 * siw cannot. If such a Read arrives while siw transmits, siw_activate_tx() leaves the last
 * WR's SGE for the response. siw then sends what this SGE describes. The access flags of
 * a registration share memory with the SGE's address, so this address may be 4: the kernel
 * panics.
 *
 * Context: Any.
 * Return: false if a peer with a device of the same kind must get no such Reads
 */
bool rpcrdma2_device_answers_empty_reads(const struct ib_device *dev)
{
	return dev->ops.driver_id != RDMA_DRIVER_SIW;
}

/**
 * rpcrdma2_device_vector - choose a completion vector, in turn
 * @dev: the device
 * @active: whether this end connects
 *
 * Completion vectors belong to CPUs, so this spreads endpoints over CPUs. Clients and
 * servers take turns apart. Otherwise, a machine that mounts from itself would have all
 * client connections on half of the vectors.
 *
 * Context: Any.
 * Return: the vector
 */
unsigned int rpcrdma2_device_vector(const struct ib_device *dev, bool active)
{
	static atomic_t turns[2];
	unsigned int vectors = min_t(unsigned int, num_online_cpus(),
				     dev->num_comp_vectors);

	return (unsigned int)atomic_fetch_inc(&turns[active]) % vectors;
}
