# SPDX-License-Identifier: GPL-2.0
#
# $(call probe,NAME,HEADER,REGEX) - -DRPCRDMA2_HAVE_NAME, if the kernel's HEADER
# has REGEX (extended, over lines; with dots for commas and
# parentheses, which make takes for its own). The headers tell what
# a kernel has; its version does not: stable and distributions' kernels have much of
# what came later. $(srctree) is where they are, be it the kernel's source, a package
# of headers, or this tree in the kernel's.
probe = $(if $(shell grep -sEzl '$(3)' $(srctree)/include/$(2)),-DRPCRDMA2_HAVE_$(1))
