// SPDX-License-Identifier: GPL-2.0
/*
 * Creates a device for "rdma link add NAME type mimic netdev NETDEV", and removes it
 * with the link, the network device, or the module.
 *
 * Owns the tables of devices and of QPs, the workqueues, and the platform device that
 * is the DMA parent. All of it runs in process context, but for mimic_remove().
 */
#include <linux/dma-direct.h>
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/platform_device.h>
#include <net/addrconf.h>
#include <rdma/ib_mad.h>
#include <rdma/iw_cm.h>
#include <rdma/rdma_netlink.h>

#include "mimic.h"

#define GID_TABLE	256
#define PKEY		0xffff

DEFINE_XARRAY_ALLOC1(mimic_devs);
DEFINE_XARRAY_ALLOC(mimic_qps);
struct workqueue_struct *mimic_wq;
/* Has no rescuer: see destroy_flushes in struct mimic_profile. */
struct workqueue_struct *mimic_flushed_wq;

/*
 * DMA parent of all devices without an IOMMU. It needs no driver and goes with the
 * module.
 */
static struct platform_device *platform;

static int query_device(struct ib_device *ib, struct ib_device_attr *attr,
			struct ib_udata *udata)
{
	mimic_set_attr(&to_mimic(ib)->limits, attr);
	return 0;
}

static int query_port(struct ib_device *ib, u32 port, struct ib_port_attr *attr)
{
	bool up = !READ_ONCE(to_mimic(ib)->port_down);

	attr->state = up ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	attr->phys_state = up ? IB_PORT_PHYS_STATE_LINK_UP :
				IB_PORT_PHYS_STATE_DISABLED;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = IB_MTU_4096;
	attr->gid_tbl_len = to_mimic(ib)->limits.iwarp ? 1 : GID_TABLE;
	attr->pkey_tbl_len = 1;
	attr->max_msg_sz = 1U << 31;
	attr->active_speed = IB_SPEED_EDR;
	attr->active_width = IB_WIDTH_4X;
	return 0;
}

static int query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	*pkey = PKEY;
	return 0;
}

/* Only iWARP needs this; the core keeps the GIDs of RoCE. */
static int query_gid(struct ib_device *ib, u32 port, int index,
		     union ib_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	memcpy(gid, to_mimic(ib)->netdev->dev_addr, ETH_ALEN);
	return 0;
}

static int get_port_immutable(struct ib_device *ib, u32 port,
			      struct ib_port_immutable *immutable)
{
	struct ib_port_attr attr = { };

	query_port(ib, port, &attr);
	immutable->gid_tbl_len = attr.gid_tbl_len;
	immutable->pkey_tbl_len = attr.pkey_tbl_len;
	if (to_mimic(ib)->limits.iwarp) {
		immutable->core_cap_flags = RDMA_CORE_PORT_IWARP;
		return 0;
	}
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

/* The core calls this after the last user has gone. */
static void dealloc_driver(struct ib_device *ib)
{
	struct mimic_dev *dev = to_mimic(ib);

	mimic_faults_exit(dev);
	if (dev->index)
		xa_erase(&mimic_devs, dev->index);
	/* An engine may have found @dev under RCU, to deliver a datagram. */
	synchronize_rcu();
	mimic_vectors_exit(dev);
	WARN_ON(!xa_empty(&dev->mrs));
	xa_destroy(&dev->mrs);
}

static const struct ib_device_ops mimic_ops = {
	.owner			= THIS_MODULE,
	.driver_id		= RDMA_DRIVER_UNKNOWN,
	.uverbs_abi_ver		= 1,

	.alloc_hw_port_stats	= mimic_alloc_stats,
	.alloc_mr		= mimic_alloc_mr,
	.alloc_pd		= mimic_alloc_pd,
	.create_ah		= mimic_create_ah,
	.create_cq		= mimic_create_cq,
	.create_qp		= mimic_create_qp,
	.create_srq		= mimic_create_srq,
	.dealloc_driver		= dealloc_driver,
	.dealloc_pd		= mimic_dealloc_pd,
	.dereg_mr		= mimic_dereg_mr,
	.destroy_ah		= mimic_destroy_ah,
	.destroy_cq		= mimic_destroy_cq,
	.destroy_qp		= mimic_destroy_qp,
	.destroy_srq		= mimic_destroy_srq,
	.get_dma_mr		= mimic_get_dma_mr,
	.get_hw_stats		= mimic_get_stats,
	.get_port_immutable	= get_port_immutable,
	.map_mr_sg		= mimic_map_mr_sg,
	.modify_qp		= mimic_modify_qp,
	.modify_srq		= mimic_modify_srq,
	.poll_cq		= mimic_poll_cq,
	.post_recv		= mimic_post_recv,
	.post_send		= mimic_post_send,
	.post_srq_recv		= mimic_post_srq_recv,
	.query_ah		= mimic_query_ah,
	.query_device		= query_device,
	.query_gid		= query_gid,
	.query_pkey		= query_pkey,
	.query_port		= query_port,
	.query_qp		= mimic_query_qp,
	.query_srq		= mimic_query_srq,
	.reg_user_mr		= mimic_reg_user_mr,
	.req_notify_cq		= mimic_req_notify_cq,

	INIT_RDMA_OBJ_SIZE(ib_ah, mimic_ah, ib),
	INIT_RDMA_OBJ_SIZE(ib_cq, mimic_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, mimic_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, mimic_qp, ib),
	INIT_RDMA_OBJ_SIZE(ib_srq, mimic_srq, ib),
};

/**
 * mimic_remove - unregister the device
 * @dev: the device; nothing happens if it is being unregistered
 *
 * Context: any. The core unregisters the device from a workqueue.
 */
void mimic_remove(struct mimic_dev *dev)
{
	if (!ib_device_try_get(&dev->ib))
		return;
	ib_unregister_device_queued(&dev->ib);
	ib_device_put(&dev->ib);
}

static struct mimic_dev *dev_alloc(struct net_device *netdev)
{
	struct mimic_dev *dev = ib_alloc_device(mimic_dev, ib);

	if (!dev)
		return NULL;
	dev->netdev = netdev;
	xa_init_flags(&dev->mrs, XA_FLAGS_ALLOC1);
	spin_lock_init(&dev->faults.lock);
	INIT_LIST_HEAD(&dev->faults.list);
	init_waitqueue_head(&dev->faults.cleared);
	ib_set_device_ops(&dev->ib, &mimic_ops);
	return dev;
}

static void name_device(struct mimic_dev *dev)
{
	struct ib_device *ib = &dev->ib;

	strscpy(ib->node_desc, "mimic, a device for tests",
		sizeof(ib->node_desc));
	addrconf_addr_eui48((u8 *)&ib->node_guid, dev->netdev->dev_addr);
	ib->phys_port_cnt = 1;
	ib->node_type = RDMA_NODE_IB_CA;
	if (!dev->limits.iwarp)
		return;
	ib->node_type = RDMA_NODE_RNIC;
	ib_set_device_ops(ib, &mimic_iwarp_ops);
	strscpy(ib->iw_ifname, dev->netdev->name, sizeof(ib->iw_ifname));
	ib->iw_driver_flags = IW_F_NO_PORT_MAP;
}

static int engine_cpu = -1;
module_param(engine_cpu, int, 0644);
MODULE_PARM_DESC(engine_cpu, "CPU where devices that are made from now on execute; -1: where it is posted");

static int set_engine_cpu(struct mimic_dev *dev)
{
	int cpu = READ_ONCE(engine_cpu);

	if (cpu >= (int)nr_cpu_ids || (cpu >= 0 && !cpu_online(cpu))) {
		pr_err("mimic: engine_cpu=%d: that CPU is not online; -1: none of its own\n",
		       cpu);
		return -EINVAL;
	}
	dev->engine_cpu = cpu;
	return 0;
}

/* The device that the DMA API maps memory for */
static struct device *dma_device(struct mimic_dev *dev)
{
	struct device *device = mimic_iommu_device();

	dev->translated = device;
	if (!device)
		return &platform->dev;
	/* The parent makes sysfs lead from the RDMA device to the PCI device. */
	dev->ib.dev.parent = device;
	return device;
}

static int newlink(const char *name, struct net_device *netdev)
{
	struct mimic_dev *dev = dev_alloc(netdev);
	int rc;

	if (!dev)
		return -ENOMEM;
	rc = mimic_limits(&dev->limits);
	if (!rc)
		rc = set_engine_cpu(dev);
	if (!rc)
		rc = mimic_vectors_init(dev);
	if (!rc)
		rc = xa_alloc(&mimic_devs, &dev->index, dev, xa_limit_31b,
			      GFP_KERNEL);
	if (rc)
		goto out_dealloc;
	name_device(dev);
	rc = ib_device_set_netdev(&dev->ib, netdev, 1);
	if (!rc)
		rc = ib_register_device(&dev->ib, name, dma_device(dev));
	if (rc)
		goto out_dealloc;
	mimic_faults_init(dev);
	pr_info("mimic: %s is a device like %s, for tests\n", name,
		dev->limits.name);
	return 0;

out_dealloc:
	ib_dealloc_device(&dev->ib);
	return rc;
}

static struct rdma_link_ops link_ops = {
	.type		= "mimic",
	.newlink	= newlink,
};

/* Remove the RDMA device before its network device goes. */
static int netdev_event(struct notifier_block *nb, unsigned long event,
			void *info)
{
	struct net_device *netdev = netdev_notifier_info_to_dev(info);
	struct mimic_dev *dev;
	unsigned long index;

	if (event != NETDEV_UNREGISTER)
		return NOTIFY_DONE;
	xa_for_each(&mimic_devs, index, dev)
		if (dev->netdev == netdev)
			mimic_remove(dev);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_nb = {
	.notifier_call = netdev_event,
};

/* Give the platform device 64-bit DMA addresses that differ from physical ones. */
static int make_platform(void)
{
	struct bus_dma_region *map;

	platform = platform_device_register_simple("mimic",
						   PLATFORM_DEVID_NONE, NULL,
						   0);
	if (IS_ERR(platform))
		return PTR_ERR(platform);
	/*
	 * An empty region ends the list. The device core frees the list with the
	 * device.
	 */
	map = kcalloc(2, sizeof(*map), GFP_KERNEL);
	if (!map) {
		platform_device_unregister(platform);
		return -ENOMEM;
	}
	mimic_set_dma_region(map, 0, MIMIC_DMA_OFFSET, MIMIC_DMA_OFFSET);
	platform->dev.dma_range_map = map;
	dma_set_max_seg_size(&platform->dev, UINT_MAX);
	return dma_coerce_mask_and_coherent(&platform->dev, DMA_BIT_MASK(64));
}

static int __init mimic_init(void)
{
	int rc = -ENOMEM;

	mimic_wq = alloc_workqueue("mimic", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!mimic_wq)
		return rc;
	mimic_flushed_wq = alloc_workqueue("mimic_flushed", WQ_UNBOUND, 0);
	if (!mimic_flushed_wq)
		goto out_wq;
	rc = mimic_iwarp_init();
	if (rc)
		goto out_flushed;
	rc = make_platform();
	if (rc)
		goto out_iwarp;
	rc = mimic_iommu_init();
	if (rc)
		goto out_platform;
	rc = register_netdevice_notifier(&netdev_nb);
	if (rc)
		goto out_iommu;
	mimic_faults_setup();
	rdma_link_register(&link_ops);
	return 0;

out_iommu:
	mimic_iommu_exit();
out_platform:
	platform_device_unregister(platform);
out_iwarp:
	mimic_iwarp_exit();
out_flushed:
	destroy_workqueue(mimic_flushed_wq);
out_wq:
	destroy_workqueue(mimic_wq);
	return rc;
}

static void __exit mimic_exit(void)
{
	rdma_link_unregister(&link_ops);
	unregister_netdevice_notifier(&netdev_nb);
	ib_unregister_driver(RDMA_DRIVER_UNKNOWN);
	mimic_iommu_exit();
	mimic_iwarp_exit();
	destroy_workqueue(mimic_flushed_wq);
	destroy_workqueue(mimic_wq);
	mimic_faults_cleanup();
	platform_device_unregister(platform);
	rcu_barrier();
}

module_init(mimic_init);
module_exit(mimic_exit);

MODULE_AUTHOR("rpcrdma2 developers");
MODULE_DESCRIPTION("RDMA device for tests, with limits and faults of real ones");
MODULE_LICENSE("GPL");
MODULE_ALIAS_RDMA_LINK("mimic");
