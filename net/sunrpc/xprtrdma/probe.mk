# SPDX-License-Identifier: GPL-2.0
#
# Finds out what the kernel's headers have: for the module's compat.h, for kunit_compat.h and
# svc_compat.h in kunit/, and for tests/mimic/compat.h.
#
# $(call probe,NAME,HEADER,REGEX) is -DRPCRDMA2_HAVE_NAME, if the kernel's HEADER matches REGEX.
# REGEX is extended, and may match over several lines. It has dots for commas and parentheses,
# which make would take for its own. $(srctree) has the headers: it is the kernel's source, a
# package of headers, or this tree inside the kernel's.
#
# Look into headers, not at versions. Stable and distributions' kernels have features of later
# versions.
probe = $(if $(shell grep -sEzl '$(3)' $(srctree)/include/$(2)),-DRPCRDMA2_HAVE_$(1))

# The module. A build of Debian's sources writes package.h.
ccflags-y += $(if $(wildcard $(objtree)/include/generated/package.h),-DRPCRDMA2_HAVE_PACKAGE_H)
ccflags-y += $(call probe,UNALIGNED_H,linux/unaligned.h,.)
ccflags-y += $(call probe,CONST_CTL_TABLE,linux/sysctl.h,proc_handler.const )
ccflags-y += $(call probe,SIZED_CTL_TABLE,linux/sysctl.h,register_sysctl_sz)
ccflags-y += $(call probe,ASSIGN_STR_DST,trace/stages/stage6_event_callback.h,__assign_str.dst.[[:space:]]+[\])
ccflags-y += $(call probe,XPO_SECURE_PORT,linux/sunrpc/svc_xprt.h,xpo_secure_port)
ccflags-y += $(call probe,SVC_CB_LWQ,linux/sunrpc/svc.h,struct lwq[[:space:]]+sv_cb_list)
ccflags-y += $(call probe,SVC_CB_WAITQ,linux/sunrpc/svc.h,sv_cb_waitq)
ccflags-y += $(call probe,SVC_RESPAGES,linux/sunrpc/svc.h,rq_pages_nfree)
ccflags-y += $(call probe,SVC_RESPAGES_INSIDE,linux/sunrpc/svc.h,rq_respages;[^;]*points into rq_pages)
ccflags-y += $(call probe,XPO_RELEASE_CTXT,linux/sunrpc/svc_xprt.h,xpo_release_ctxt)
ccflags-y += $(call probe,SHRINKER_ALLOC,linux/shrinker.h,shrinker_alloc)
ccflags-y += $(call probe,GENL_INFO_DUMP,net/genetlink.h,genl_info_dump)

# Suites of KUnit, and their RPC program
ccflags-y += $(call probe,SVC_THREAD_STATUS,linux/sunrpc/svc.h,svc_thread_init_status)
ccflags-y += $(call probe,SVC_THREAD_STOP,linux/sunrpc/svc.h,svc_thread_should_stop)
ccflags-y += $(call probe,SVC_RECV_PLAIN,linux/sunrpc/svcsock.h,svc_recv.struct svc_rqst .rqstp.;)
ccflags-y += $(call probe,SVC_SET_POOL_THREADS,linux/sunrpc/svc.h,svc_set_pool_threads)
ccflags-y += $(call probe,SVC_DESTROY_SERVP,linux/sunrpc/svc.h,svc_destroy.struct svc_serv ..svc)
ccflags-y += $(call probe,SVC_UNREGISTER,linux/sunrpc/svc_xprt.h,svc_xprt_destroy_all[^;]*bool)
ccflags-y += $(call probe,SV_MAXCONN,linux/sunrpc/svc.h,sv_maxconn)
ccflags-y += $(call probe,VS_COUNT,linux/sunrpc/svc.h,vs_count)
ccflags-y += $(call probe,VS_COUNT_PERCPU,linux/sunrpc/svc.h,__percpu[[:space:]]+\*vs_count)
ccflags-y += $(call probe,SVC_AUTH_STATUS,linux/sunrpc/svc.h,enum svc_auth_status)
ccflags-y += $(call probe,ACCEPT_STATP,linux/sunrpc/svc.h,rq_accept_statp)
ccflags-y += $(call probe,KUNIT_GENERATOR_TEST,kunit/test.h,_gen_params.struct kunit)
ccflags-y += $(call probe,KUNIT_RUN_TESTS,kunit/test.h,__kunit_test_suites_init[^;]*run_tests)
ccflags-y += $(call probe,RESERVE_VEC_NO_KVEC,linux/sunrpc/xdr.h,xdr_reserve_space_vec[^;]*xdr. size_t nbytes)

# The test device
ccflags-y += $(call probe,CREATE_CQ_ATTRS,rdma/ib_verbs.h,create_cq..struct ib_cq[^;]*uverbs_attr_bundle)
ccflags-y += $(call probe,REG_USER_MR_DMAH,rdma/ib_verbs.h,reg_user_mr[^;]*struct ib_dmah)
ccflags-y += $(call probe,DMA_REGION_OFFSET,linux/dma-direct.h,struct bus_dma_region [{][^}]*offset;)
