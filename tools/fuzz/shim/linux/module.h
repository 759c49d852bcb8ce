/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_MODULE_H
#define _SHIM_LINUX_MODULE_H

#define MODULE_LICENSE(x)	struct shim_module_info
#define MODULE_AUTHOR(x)	struct shim_module_info
#define MODULE_DESCRIPTION(x)	struct shim_module_info

#endif /* _SHIM_LINUX_MODULE_H */
