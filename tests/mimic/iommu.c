// SPDX-License-Identifier: GPL-2.0
/*
 * DMA behind an IOMMU that translates.
 *
 * QEMU's PCI device "edu" has no driver in Linux. On a machine that has an edu, mimic
 * drives it, and all mimic devices do their DMA as that PCI device. The DMA API then
 * hands out I/O virtual addresses. This file translates them by the IOMMU's own page
 * tables, as hardware would.
 *
 * The file knows the second-level tables of Intel's VT-d in legacy mode. With any other
 * IOMMU it asks the kernel for the translation, which does not check the direction.
 *
 * Context: any. A reader takes no lock: the kernel frees no table that holds a live
 * mapping. Without a live mapping, the reader finds a stale entry or none, and a
 * caller's bug shows.
 */
#include <linux/acpi.h>
#include <linux/dma-mapping.h>
#include <linux/iommu.h>
#include <linux/module.h>
#include <linux/pci.h>

#include "mimic.h"

#define EDU_VENDOR	0x1234
#define EDU_DEVICE	0x11e8

/* VT-d 3.3, 10.4.6 and 9.1 to 9.8: registers and entries */
#define REGISTERS	0x1000
#define ROOT_TABLE	0x20
#define ADDRESS		GENMASK_ULL(51, 12)
#define PRESENT		BIT_ULL(0)
#define READABLE	BIT_ULL(0)
#define WRITABLE	BIT_ULL(1)
#define LARGE		BIT_ULL(7)
#define WIDTH		GENMASK_ULL(2, 0)
#define LEVEL_BITS	9

static bool untrusted;
module_param(untrusted, bool, 0444);
MODULE_PARM_DESC(untrusted, "what is no whole page goes through a bounce buffer, as for a device outside of the machine");

/* The PCI device; NULL if the machine has none */
static struct pci_dev *edu;

/* Top of the device's page tables; 0 if the IOMMU is not Intel's */
static phys_addr_t tables;
static unsigned int levels;

static const u64 *entry_at(phys_addr_t table, unsigned int index, unsigned int words)
{
	return (const u64 *)phys_to_virt(table & ADDRESS) + index * words;
}

/* Follow the root table by bus and function to the device's page tables. */
static int find_tables(phys_addr_t root)
{
	const u64 *entry = entry_at(root, edu->bus->number, 2);

	if (!(entry[0] & PRESENT))
		return -ENOENT;
	entry = entry_at(entry[0], edu->devfn, 2);
	if (!(entry[0] & PRESENT))
		return -ENOENT;
	tables = entry[0] & ADDRESS;
	levels = (entry[1] & WIDTH) + 2;
	return 0;
}

static int read_root(u64 registers)
{
	void __iomem *base = ioremap(registers, REGISTERS);
	u64 root;

	if (!base)
		return -ENOMEM;
	root = readq(base + ROOT_TABLE);
	iounmap(base);
	return find_tables(root);
}

/* QEMU has one remapping unit for all devices, and the table names it first. */
static int find_unit(const struct acpi_table_header *dmar)
{
	const struct acpi_dmar_hardware_unit *unit =
		(void *)dmar + sizeof(struct acpi_table_dmar);

	if (dmar->length < sizeof(struct acpi_table_dmar) + sizeof(*unit) ||
	    unit->header.type != ACPI_DMAR_TYPE_HARDWARE_UNIT)
		return -ENOENT;
	return read_root(unit->address);
}

static int find_intel(void)
{
	struct acpi_table_header *dmar;
	int rc;

	if (ACPI_FAILURE(acpi_get_table(ACPI_SIG_DMAR, 0, &dmar)))
		return 0;
	rc = find_unit(dmar);
	acpi_put_table(dmar);
	return rc;
}

/* Return: the physical address, or 0 where the IOMMU would report a fault. */
static phys_addr_t walk(dma_addr_t addr, bool write)
{
	u64 needed = write ? WRITABLE : READABLE, entry;
	phys_addr_t table = tables;
	unsigned int level, shift;

	for (level = levels; level; level--) {
		shift = PAGE_SHIFT + (level - 1) * LEVEL_BITS;
		entry = READ_ONCE(*entry_at(table, (addr >> shift) &
					    (BIT(LEVEL_BITS) - 1), 1));
		if (!(entry & needed))
			return 0;
		if (level == 1 || entry & LARGE)
			return (entry & ADDRESS & ~(BIT_ULL(shift) - 1)) |
			       (addr & (BIT_ULL(shift) - 1));
		table = entry;
	}
	return 0;
}

/**
 * mimic_iommu_device - find the PCI device whose DMA an IOMMU translates
 *
 * Context: any.
 *
 * Return: the device, or NULL if the machine has none.
 */
struct device *mimic_iommu_device(void)
{
	struct pci_dev *pdev = READ_ONCE(edu);

	return pdev ? &pdev->dev : NULL;
}

/**
 * mimic_iommu_at - translate an I/O virtual address
 * @addr: the address
 * @write: the device writes there; else it reads
 *
 * Context: any, while the PCI device is bound.
 *
 * Return: the physical address, or 0 if the IOMMU does not allow the access.
 */
phys_addr_t mimic_iommu_at(dma_addr_t addr, bool write)
{
	if (tables)
		return walk(addr, write);
	return iommu_iova_to_phys(iommu_get_domain_for_dev(&edu->dev), addr);
}

static int edu_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct iommu_domain *domain = iommu_get_domain_for_dev(&pdev->dev);
	int rc;

	if (edu)
		return -EBUSY;
	if (!domain || domain->type == IOMMU_DOMAIN_IDENTITY) {
		dev_err(&pdev->dev, "mimic: no IOMMU translates for this device; is there an intel-iommu, and intel_iommu=on?\n");
		return -ENODEV;
	}
	rc = pcim_enable_device(pdev);
	if (!rc)
		rc = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (rc)
		return rc;
	pci_set_master(pdev);
	pdev->untrusted = untrusted;
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);
	edu = pdev;
	rc = find_intel();
	if (rc) {
		edu = NULL;
		dev_err(&pdev->dev, "mimic: no page tables of the IOMMU's: %d\n", rc);
		return rc;
	}
	dev_info(&pdev->dev, "mimic: DMA is translated, %s\n",
		 tables ? "and its direction is checked" : "but its direction is not checked");
	return 0;
}

static void edu_remove(struct pci_dev *pdev)
{
	ib_unregister_driver(RDMA_DRIVER_UNKNOWN);
	edu = NULL;
	tables = 0;
}

static const struct pci_device_id edu_ids[] = {
	{ PCI_DEVICE(EDU_VENDOR, EDU_DEVICE) },
	{ }
};

static struct pci_driver edu_driver = {
	.name		= "mimic",
	.id_table	= edu_ids,
	.probe		= edu_probe,
	.remove		= edu_remove,
};

/**
 * mimic_iommu_init - register the driver of the PCI device
 *
 * Context: process, when the module is loaded.
 *
 * Return: 0 or negative errno.
 */
int mimic_iommu_init(void)
{
	return pci_register_driver(&edu_driver);
}

/**
 * mimic_iommu_exit - unregister the driver of the PCI device
 *
 * Context: process, when the module is unloaded and no mimic device is left.
 */
void mimic_iommu_exit(void)
{
	pci_unregister_driver(&edu_driver);
}
