// SPDX-License-Identifier: GPL-2.0
/*
 * Limits and habits of real devices. The figures were read from the drivers of Linux
 * 7.3. Where a device's firmware decides, a figure is of a common model.
 *
 * Owns the module parameters that choose a profile and override its limits. All
 * functions run in process context.
 */
#include <linux/module.h>

#include "mimic.h"

#define QP_FATAL	BIT(IB_EVENT_QP_FATAL)
#define QP_REQ_ERR	BIT(IB_EVENT_QP_REQ_ERR)
#define QP_ACCESS_ERR	BIT(IB_EVENT_QP_ACCESS_ERR)
#define LAST_WQE	BIT(IB_EVENT_QP_LAST_WQE_REACHED)
#define FRA		(QP_FATAL | QP_REQ_ERR | QP_ACCESS_ERR)

static const struct mimic_profile profiles[] = {
	{
		/* No device in particular, with generous limits */
		.name = "generic", .local_dma_lkey = 1,
		.max_send_sge = 32, .max_recv_sge = 32, .max_sge_rd = 32,
		.max_fast_reg = 512, .max_qp_wr = 32768, .max_cqe = 1 << 20,
		.rd_atom = 128, .init_rd_atom = 128, .max_srq_wr = 32768,
		.vectors = 64, .wqe_base = 64, .wqe_unit = 64,
		.sq_octets = 1 << 24, .events = FRA | LAST_WQE,
	}, {
		.name = "mlx5", .sg_gaps = 1,
		.max_send_sge = 30, .max_recv_sge = 32, .max_sge_rd = 30,
		.max_sgl_rd = 16, .max_fast_reg = 65536, .max_qp_wr = 8192,
		.max_cqe = (1 << 22) - 1, .rd_atom = 16, .init_rd_atom = 16,
		.max_srq_wr = 32767, .vectors = 64,
		.wqe_base = 132, .wqe_sge = 16, .wqe_unit = 64, .sq_rounds = 1,
		.sq_reports = 1, .sq_octets = 32768 * 64,
		.events = FRA | LAST_WQE,
	}, {
		.name = "mlx4", .local_dma_lkey = 1,
		.max_send_sge = 32, .max_recv_sge = 32, .max_sge_rd = 30,
		.max_fast_reg = 511, .max_qp_wr = 16351, .max_cqe = 4194303,
		.rd_atom = 16, .init_rd_atom = 128, .max_srq_wr = 16383,
		.vectors = 64, .wqe_base = 1024, .wqe_unit = 1024,
		.sq_reserve = 3 * 1024, .sq_rounds = 1, .sq_reports = 1,
		.sq_octets = 16384 * 1024, .events = FRA | LAST_WQE,
	}, {
		.name = "irdma-x722", .local_dma_lkey = 1, .iwarp = 1,
		.destroy_flushes = 1,
		.max_send_sge = 3, .max_recv_sge = 3, .max_sge_rd = 1,
		.max_fast_reg = 262144, .max_qp_wr = 895, .max_cqe = 1048574,
		.rd_atom = 63, .init_rd_atom = 127, .vectors = 64,
		.wqe_base = 64, .wqe_unit = 64, .sq_reserve = 258 * 32,
		.sq_rounds = 1, .sq_reports = 1, .sq_octets = 1 << 17,
		.events = FRA,
	}, {
		.name = "irdma-e8xx", .local_dma_lkey = 1,
		.destroy_flushes = 1,
		.max_send_sge = 13, .max_recv_sge = 13, .max_sge_rd = 13,
		.max_fast_reg = 262144, .max_qp_wr = 4063, .max_cqe = 1048574,
		.rd_atom = 127, .init_rd_atom = 255, .vectors = 64,
		.wqe_base = 256, .wqe_unit = 256, .sq_reserve = 258 * 32,
		.sq_rounds = 1, .sq_reports = 1, .sq_octets = 1 << 21,
		.events = FRA,
	}, {
		.name = "cxgb4", .local_dma_lkey = 1, .iwarp = 1,
		.max_send_sge = 17, .max_recv_sge = 4, .max_sge_rd = 1,
		.max_fast_reg = 128, .max_qp_wr = 8191, .max_cqe = 65518,
		.rd_atom = 8, .init_rd_atom = 8, .max_srq_wr = 4096,
		.vectors = 64, .wqe_base = 320, .wqe_unit = 320,
		.sq_octets = 8192 * 320, .events = FRA | LAST_WQE,
	}, {
		.name = "bnxt_re", .local_dma_lkey = 1,
		.max_send_sge = 6, .max_recv_sge = 6, .max_sge_rd = 6,
		.max_fast_reg = 512, .max_qp_wr = 4351, .max_cqe = 262143,
		.rd_atom = 126, .init_rd_atom = 126, .max_srq_wr = 4095,
		.vectors = 63, .wqe_base = 128, .wqe_unit = 128,
		.sq_octets = 8192 * 128, .events = FRA | LAST_WQE,
	}, {
		.name = "qedr", .local_dma_lkey = 1,
		.max_send_sge = 4, .max_recv_sge = 4, .max_sge_rd = 4,
		.max_fast_reg = 16383, .max_qp_wr = 32767, .max_cqe = 8388480,
		.rd_atom = 32, .init_rd_atom = 32, .max_srq_wr = 32767,
		.vectors = 64, .wqe_base = 288, .wqe_unit = 288,
		.sq_octets = 32768 * 288, .events = FRA,
	}, {
		.name = "hns", .no_local_inv = 1,
		.max_send_sge = 64, .max_recv_sge = 64, .max_sge_rd = 64,
		.max_fast_reg = 512, .max_qp_wr = 32768, .max_cqe = 4194303,
		.rd_atom = 128, .init_rd_atom = 128, .max_srq_wr = 32768,
		.vectors = 64, .wqe_base = 64, .wqe_sge = 16, .wqe_unit = 64,
		.sq_rounds = 1, .sq_reports = 1, .sq_octets = 1 << 24,
		.events = FRA | LAST_WQE,
	}, {
		.name = "erdma", .local_dma_lkey = 1, .head_is_bad = 1,
		.max_send_sge = 6, .max_recv_sge = 1, .max_sge_rd = 1,
		.max_fast_reg = 512, .max_qp_wr = 8192, .max_cqe = 1 << 20,
		.rd_atom = 128, .init_rd_atom = 128, .vectors = 31,
		.wqe_base = 128, .wqe_unit = 32, .sq_octets = 1 << 21,
		.events = QP_FATAL,
	}, {
		/* Like siw: in software, with Sends that overtake Reads */
		.name = "iwarp", .iwarp = 1, .late_reads = 1,
		.max_send_sge = 6, .max_recv_sge = 6, .max_sge_rd = 1,
		.max_fast_reg = 256, .max_qp_wr = 32768, .max_cqe = 3276800,
		.rd_atom = 128, .init_rd_atom = 128, .max_srq_wr = 32768,
		.vectors = 64, .wqe_base = 64, .wqe_unit = 64,
		.sq_octets = 1 << 22, .events = FRA,
	},
};

static char *profile = "generic";
module_param(profile, charp, 0644);
MODULE_PARM_DESC(profile, "What devices that are made from now on pass themselves off as");

/* One module parameter for each limit; -1 leaves the profile's value. */
static struct {
	int iwarp;
	int no_fast_reg;
	int local_dma_lkey;
	int sg_gaps;
	int no_local_inv;
	int late_reads;
	int max_send_sge;
	int max_recv_sge;
	int max_sge_rd;
	int max_fast_reg;
	int max_qp_wr;
	int max_cqe;
	int rd_atom;
	int init_rd_atom;
	int max_srq_wr;
	int vectors;
} given = {
	-1, -1, -1, -1, -1, -1,
	-1, -1, -1, -1, -1,
	-1, -1, -1, -1, -1,
};

module_param_named(iwarp, given.iwarp, int, 0644);
module_param_named(no_fast_reg, given.no_fast_reg, int, 0644);
module_param_named(local_dma_lkey, given.local_dma_lkey, int, 0644);
module_param_named(sg_gaps, given.sg_gaps, int, 0644);
module_param_named(no_local_inv, given.no_local_inv, int, 0644);
module_param_named(late_reads, given.late_reads, int, 0644);
module_param_named(max_send_sge, given.max_send_sge, int, 0644);
module_param_named(max_recv_sge, given.max_recv_sge, int, 0644);
module_param_named(max_sge_rd, given.max_sge_rd, int, 0644);
module_param_named(max_fast_reg, given.max_fast_reg, int, 0644);
module_param_named(max_qp_wr, given.max_qp_wr, int, 0644);
module_param_named(max_cqe, given.max_cqe, int, 0644);
module_param_named(rd_atom, given.rd_atom, int, 0644);
module_param_named(init_rd_atom, given.init_rd_atom, int, 0644);
module_param_named(max_srq_wr, given.max_srq_wr, int, 0644);
module_param_named(vectors, given.vectors, int, 0644);

static u32 pick(int instead, u32 limit)
{
	return instead < 0 ? limit : instead;
}

static void override(struct mimic_profile *limits)
{
	limits->iwarp = pick(given.iwarp, limits->iwarp);
	limits->no_fast_reg = pick(given.no_fast_reg, limits->no_fast_reg);
	limits->local_dma_lkey = pick(given.local_dma_lkey, limits->local_dma_lkey);
	limits->sg_gaps = pick(given.sg_gaps, limits->sg_gaps);
	limits->no_local_inv = pick(given.no_local_inv, limits->no_local_inv);
	limits->late_reads = pick(given.late_reads, limits->late_reads);
	limits->max_send_sge = pick(given.max_send_sge, limits->max_send_sge);
	limits->max_recv_sge = pick(given.max_recv_sge, limits->max_recv_sge);
	limits->max_sge_rd = pick(given.max_sge_rd, limits->max_sge_rd);
	limits->max_fast_reg = pick(given.max_fast_reg, limits->max_fast_reg);
	limits->max_qp_wr = pick(given.max_qp_wr, limits->max_qp_wr);
	limits->max_cqe = pick(given.max_cqe, limits->max_cqe);
	limits->rd_atom = pick(given.rd_atom, limits->rd_atom);
	limits->init_rd_atom = pick(given.init_rd_atom, limits->init_rd_atom);
	limits->max_srq_wr = pick(given.max_srq_wr, limits->max_srq_wr);
	limits->vectors = pick(given.vectors, limits->vectors);
	limits->max_send_sge = clamp_t(u32, limits->max_send_sge, 1,
				       MIMIC_MAX_SGE);
	limits->max_sge_rd = clamp_t(u32, limits->max_sge_rd, 1,
				     MIMIC_MAX_SGE);
	limits->vectors = clamp_t(u32, limits->vectors, 1, num_online_cpus());
}

/**
 * mimic_limits - choose the limits of a new device
 * @limits: receives the limits that the module's parameters choose
 *
 * Context: process.
 *
 * Return: 0, or -EINVAL if the parameter names no profile; the log then lists the
 *	profiles.
 */
int mimic_limits(struct mimic_profile *limits)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(profiles); i++) {
		if (!sysfs_streq(profile, profiles[i].name))
			continue;
		*limits = profiles[i];
		override(limits);
		return 0;
	}
	pr_err("mimic: no profile \"%s\"; there are:\n", profile);
	for (i = 0; i < ARRAY_SIZE(profiles); i++)
		pr_err("mimic: %s\n", profiles[i].name);
	return -EINVAL;
}

/**
 * mimic_set_attr - tell a ULP what the device can do
 * @limits: limits of the device
 * @attr: receives the attributes
 *
 * Context: any.
 */
void mimic_set_attr(const struct mimic_profile *limits,
		    struct ib_device_attr *attr)
{
	attr->max_mr_size = U64_MAX;
	attr->page_size_cap = ~(u64)(PAGE_SIZE - 1);
	attr->vendor_id = 0xffffff;
	attr->max_qp = 65536;
	attr->max_qp_wr = limits->max_qp_wr;
	attr->device_cap_flags = IB_DEVICE_RC_RNR_NAK_GEN;
	if (!limits->no_fast_reg)
		attr->device_cap_flags |= IB_DEVICE_MEM_MGT_EXTENSIONS;
	attr->kernel_cap_flags = IBK_ALLOW_USER_UNREG;
	if (limits->local_dma_lkey)
		attr->kernel_cap_flags |= IBK_LOCAL_DMA_LKEY;
	if (limits->sg_gaps)
		attr->kernel_cap_flags |= IBK_SG_GAPS_REG;
	attr->max_send_sge = limits->max_send_sge;
	attr->max_recv_sge = limits->max_recv_sge;
	attr->max_sge_rd = limits->max_sge_rd;
	attr->max_sgl_rd = limits->max_sgl_rd;
	attr->max_cq = 65536;
	attr->max_cqe = limits->max_cqe;
	attr->max_mr = 1 << 20;
	attr->max_pd = 65536;
	attr->max_qp_rd_atom = limits->rd_atom;
	attr->max_qp_init_rd_atom = limits->init_rd_atom;
	attr->max_res_rd_atom = limits->rd_atom * 65536;
	attr->max_ah = 65536;
	attr->max_srq = limits->max_srq_wr ? 1024 : 0;
	attr->max_srq_wr = limits->max_srq_wr;
	attr->max_srq_sge = limits->max_srq_wr ? limits->max_recv_sge : 0;
	attr->max_fast_reg_page_list_len = limits->max_fast_reg;
	attr->max_pkeys = 1;
	attr->local_ca_ack_delay = 15;
}

/**
 * mimic_sq_size - size a Send Queue as the real device does
 * @limits: limits of the device
 * @cap: requested capabilities; @cap->max_send_wr rises to the entries that there will
 *	be, if the real driver reports them
 *
 * Context: any.
 *
 * Return: 0, or -ENOMEM if the device has no Send Queue of that size.
 */
int mimic_sq_size(const struct mimic_profile *limits, struct ib_qp_cap *cap)
{
	u32 entry = limits->wqe_base + limits->wqe_sge * cap->max_send_sge;
	u64 octets;

	entry = DIV_ROUND_UP(entry, limits->wqe_unit) * limits->wqe_unit;
	octets = (u64)entry * cap->max_send_wr + limits->sq_reserve;
	if (limits->sq_rounds)
		octets = roundup_pow_of_two(octets);
	if (octets > limits->sq_octets)
		return -ENOMEM;
	if (limits->sq_reports)
		cap->max_send_wr = div_u64(octets - limits->sq_reserve, entry);
	return 0;
}
