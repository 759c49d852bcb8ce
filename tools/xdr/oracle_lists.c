// SPDX-License-Identifier: GPL-2.0
/*
 * Converts chunk lists and properties between plain arrays and rpcgen's structs.
 */
#include <string.h>
#include "oracle_lists.h"

static void segment_of(struct flat_segment *to, const x_segment *from)
{
	to->handle = from->xs_handle;
	to->length = from->xs_length;
	to->offset = from->xs_offset;
}

static x_segment x_segment_of(const struct flat_segment *from)
{
	return (x_segment){ from->handle, from->length, from->offset };
}

static int chunk_of(struct flat_chunk *to, const x_chunk *from)
{
	u_int i;

	if (from->xk_target.xk_target_len > FLAT_SEGMENTS)
		return -1;
	to->nsegs = from->xk_target.xk_target_len;
	for (i = 0; i < to->nsegs; i++)
		segment_of(&to->segs[i], &from->xk_target.xk_target_val[i]);
	return 0;
}

static void x_chunk_of(x_chunk *to, x_segment *storage,
		       const struct flat_chunk *from)
{
	u_int i;

	for (i = 0; i < from->nsegs; i++)
		storage[i] = x_segment_of(&from->segs[i]);
	to->xk_target.xk_target_len = from->nsegs;
	to->xk_target.xk_target_val = storage;
}

/* @lists refers to static memory, which the next call overwrites. */
void lists_of_flat(struct x_chunk_lists *lists, const struct flat *f)
{
	static x_segment storage[FLAT_CHUNKS + 1][FLAT_SEGMENTS];
	static struct x_write_list writes[FLAT_CHUNKS];
	static struct x_read_list reads[FLAT_SEGMENTS];
	static struct x_chunk reply;
	struct x_write_list **write = &lists->xl_writes;
	struct x_read_list **read = &lists->xl_reads;
	u_int i;

	for (i = 0; i < f->nreads; i++) {
		reads[i].xr_position = f->reads[i].position;
		reads[i].xr_target = x_segment_of(&f->reads[i].seg);
		*read = &reads[i];
		read = &reads[i].xr_next;
	}
	*read = NULL;
	for (i = 0; i < f->nwrites; i++) {
		x_chunk_of(&writes[i].xw_entry, storage[i], &f->writes[i]);
		*write = &writes[i];
		write = &writes[i].xw_next;
	}
	*write = NULL;
	if (f->has_reply) {
		x_chunk_of(&reply, storage[FLAT_CHUNKS], &f->reply);
		lists->xl_reply = &reply;
	}
}

bool_t flat_of_lists(struct flat *f, const struct x_chunk_lists *lists)
{
	const x_write_list *write;
	const x_read_list *read;

	for (read = lists->xl_reads; read; read = read->xr_next) {
		if (f->nreads == FLAT_SEGMENTS)
			return FALSE;
		f->reads[f->nreads].position = read->xr_position;
		segment_of(&f->reads[f->nreads++].seg, &read->xr_target);
	}
	for (write = lists->xl_writes; write; write = write->xw_next) {
		if (f->nwrites == FLAT_CHUNKS ||
		    chunk_of(&f->writes[f->nwrites++], &write->xw_entry))
			return FALSE;
	}
	f->has_reply = !!lists->xl_reply;
	return !lists->xl_reply || !chunk_of(&f->reply, lists->xl_reply);
}

/* @props refers to the memory of @f. */
void props_of_flat(x_property *props, const struct flat *f)
{
	u_int i;

	for (i = 0; i < f->nprops; i++) {
		props[i].xp_id = f->props[i].id;
		props[i].xp_data.xp_data_len = f->props[i].len;
		props[i].xp_data.xp_data_val = (char *)f->props[i].data;
	}
}

bool_t flat_of_props(struct flat *f, const x_property *prop, u_int n)
{
	u_int i;

	if (n > FLAT_PROPS)
		return FALSE;
	f->nprops = n;
	for (i = 0; i < n; i++, prop++) {
		if (prop->xp_data.xp_data_len > FLAT_DATA)
			return FALSE;
		f->props[i].id = prop->xp_id;
		f->props[i].len = prop->xp_data.xp_data_len;
		if (f->props[i].len)
			memcpy(f->props[i].data, prop->xp_data.xp_data_val,
			       f->props[i].len);
	}
	return TRUE;
}
