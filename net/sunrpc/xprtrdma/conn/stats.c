// SPDX-License-Identifier: GPL-2.0
/*
 * Counting, and lines of "name: value".
 */
#include <linux/kernel.h>
#include <linux/string_helpers.h>

#include "conn.h"

/* Values start in the same column, for those who read them. */
#define VALUE_COLUMN	34

static bool stats_any_octets(const struct rpcrdma2_chunk *chunks,
			     unsigned int n)
{
	while (n--)
		if (chunks[n].length)
			return true;
	return false;
}

/**
 * rpcrdma2_counted_form - as what is a Call or a Reply counted?
 * @cl: the chunk lists of its header, RDMA2_MSG or RDMA2_NOMSG
 *
 * Return: enum rpcrdma2_form, one bit or several: a Position-Zero Read chunk is a Read chunk,
 * too, and chunks without an octet are none
 */
u32 rpcrdma2_counted_form(const struct rpcrdma2_chunk_lists *cl)
{
	u32 form = 0;

	if (likely(!cl->nsegs))
		return RPCRDMA2_FORM_INLINE;
	if (stats_any_octets(cl->reads, cl->nreads))
		form |= RPCRDMA2_FORM_READ_CHUNK;
	if (rpcrdma2_position_zero(cl))
		form |= RPCRDMA2_FORM_POSITION_ZERO;
	if (stats_any_octets(cl->writes, cl->nwrites))
		form |= RPCRDMA2_FORM_WRITE_CHUNK;
	if (cl->has_reply && cl->reply.length)
		form |= RPCRDMA2_FORM_REPLY_CHUNK;
	return form ?: RPCRDMA2_FORM_INLINE;
}

/**
 * rpcrdma2_count_form - count a Call or a Reply
 * @forms: those of its kind and direction
 * @form: as what
 */
void rpcrdma2_count_form(struct rpcrdma2_forms *forms, u32 form)
{
	forms->messages++;
	if (form & RPCRDMA2_FORM_INLINE)
		forms->inlined++;
	if (form & RPCRDMA2_FORM_READ_CHUNK)
		forms->read_chunks++;
	if (form & RPCRDMA2_FORM_POSITION_ZERO)
		forms->position_zero++;
	if (form & RPCRDMA2_FORM_WRITE_CHUNK)
		forms->write_chunks++;
	if (form & RPCRDMA2_FORM_REPLY_CHUNK)
		forms->reply_chunk++;
}

/**
 * rpcrdma2_count_error - count an RDMA2_ERROR
 * @errors: those in its direction
 * @code: its code, whatever the peer says
 */
void rpcrdma2_count_error(u64 errors[RPCRDMA2_NR_ERRORS], u32 code)
{
	errors[code < RPCRDMA2_NR_ERRORS ? code : 0]++;
}

/**
 * rpcrdma2_counters_add - add up what was counted in two places
 * @sum: a struct of counters
 * @counters: another one of its kind
 * @size: of each, octets
 *
 * The only one that looks at counters that may be written meanwhile: it may see one ahead
 * of another.
 */
void rpcrdma2_counters_add(void *sum, const void *counters, size_t size)
{
	const u64 *from = counters;
	u64 *to = sum;
	size_t i;

	for (i = 0; i < size / sizeof(u64); i++)
		/* Who counts takes no lock for who looks. */
		to[i] += data_race(from[i]);
}

/**
 * rpcrdma2_show - write a line
 * @seq: where to
 * @name: what it is about
 * @fmt: its value, as for printf
 */
void rpcrdma2_show(struct seq_file *seq, const char *name, const char *fmt,
		   ...)
{
	va_list args;

	seq_setwidth(seq, VALUE_COLUMN);
	seq_printf(seq, "%s:", name);
	seq_pad(seq, ' ');
	va_start(args, fmt);
	seq_vprintf(seq, fmt, args);
	va_end(args);
	seq_putc(seq, '\n');
}

/**
 * rpcrdma2_show_count - write a line with a counter
 * @seq: where to
 * @name: what it counts
 * @count: its value
 */
void rpcrdma2_show_count(struct seq_file *seq, const char *name, u64 count)
{
	rpcrdma2_show(seq, name, "%llu", count);
}

static void stats_show_part(struct seq_file *seq, const char *kind,
			    const char *part, u64 count)
{
	char name[2 * VALUE_COLUMN];

	snprintf(name, sizeof(name), "%s_%s", kind, part);
	rpcrdma2_show_count(seq, name, count);
}

/**
 * rpcrdma2_show_forms - write the lines of one kind of messages
 * @seq: where to
 * @kind: which messages these are
 * @forms: their counters
 */
void rpcrdma2_show_forms(struct seq_file *seq, const char *kind,
			 const struct rpcrdma2_forms *forms)
{
	rpcrdma2_show_count(seq, kind, forms->messages);
	stats_show_part(seq, kind, "inline", forms->inlined);
	stats_show_part(seq, kind, "read_chunks", forms->read_chunks);
	stats_show_part(seq, kind, "position_zero", forms->position_zero);
	stats_show_part(seq, kind, "write_chunks", forms->write_chunks);
	stats_show_part(seq, kind, "reply_chunk", forms->reply_chunk);
}

/* Codes that never came are left out. */
static void stats_show_errors(struct seq_file *seq, const char *kind,
			      const u64 errors[RPCRDMA2_NR_ERRORS])
{
	char name[VALUE_COLUMN];
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < RPCRDMA2_NR_ERRORS; i++)
		sum += errors[i];
	rpcrdma2_show_count(seq, kind, sum);
	for (i = 0; i < RPCRDMA2_NR_ERRORS; i++) {
		if (!errors[i])
			continue;
		string_lower(name, rpcrdma2_error_name(i));
		stats_show_part(seq, kind, name, errors[i]);
	}
}

/**
 * rpcrdma2_show_conn_stats - write what a connection did, or some together
 * @seq: where to
 * @stats: their counters
 */
void rpcrdma2_show_conn_stats(struct seq_file *seq,
			      const struct rpcrdma2_conn_stats *stats)
{
	rpcrdma2_show_count(seq, "work_requests", stats->work_requests);
	rpcrdma2_show_count(seq, "send_doorbells", stats->send_doorbells);
	rpcrdma2_show_count(seq, "receive_doorbells", stats->recv_doorbells);
	rpcrdma2_show_count(seq, "completions", stats->completions);
	rpcrdma2_show_count(seq, "send_queue_waits", stats->queue_waits);
	rpcrdma2_show_count(seq, "sends", stats->sends);
	rpcrdma2_show_count(seq, "send_octets", stats->send_octets);
	rpcrdma2_show_count(seq, "receives", stats->receives);
	rpcrdma2_show_count(seq, "receive_octets", stats->receive_octets);
	rpcrdma2_show_count(seq, "size_changes", stats->resizes);
	rpcrdma2_show_count(seq, "heartbeats", stats->heartbeats);
	rpcrdma2_show_count(seq, "heartbeats_missed", stats->heartbeats_missed);
	stats_show_errors(seq, "errors_sent", stats->errors_sent);
	stats_show_errors(seq, "errors_received", stats->errors_received);
}
