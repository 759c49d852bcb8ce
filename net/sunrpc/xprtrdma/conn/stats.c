// SPDX-License-Identifier: GPL-2.0
/*
 * Counts messages and errors, adds counters up, and writes lines of "name: value".
 *
 * All functions are for any context; those that take a seq_file are for process context.
 */
#include <linux/kernel.h>
#include <linux/string_helpers.h>

#include "conn.h"

/* Values start in the same column, for human readers. */
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
 * rpcrdma2_counted_form - the form as which a Call or a Reply counts
 * @cl: chunk lists of the header of an RDMA2_MSG or RDMA2_NOMSG
 *
 * Context: Any.
 * Return: enum rpcrdma2_form, one or several bits. A Position-Zero Read chunk is also a Read
 *	chunk. A chunk without octets counts as no chunk.
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
 * @forms: counters of its kind and direction
 * @form: its form, by rpcrdma2_counted_form()
 *
 * Context: That of @forms.
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
 * @errors: counters of its direction
 * @code: its code; may be unknown
 *
 * Context: That of @errors.
 */
void rpcrdma2_count_error(u64 errors[RPCRDMA2_NR_ERRORS], u32 code)
{
	errors[code < RPCRDMA2_NR_ERRORS ? code : 0]++;
}

/**
 * rpcrdma2_counters_add - add one struct of counters to another
 * @sum: the struct to add to
 * @counters: another one of its kind, which may change meanwhile
 * @size: size of each, octets
 *
 * Context: Any.
 */
void rpcrdma2_counters_add(void *sum, const void *counters, size_t size)
{
	const u64 *from = counters;
	u64 *to = sum;
	size_t i;

	for (i = 0; i < size / sizeof(u64); i++)
		/* Writers take no lock for the sake of readers. */
		to[i] += data_race(from[i]);
}

/**
 * rpcrdma2_show - write a line of "name: value"
 * @seq: the file
 * @name: name of the value
 * @fmt: format of the value, as for printf
 *
 * Context: Process.
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
 * rpcrdma2_show_count - write a counter's line
 * @seq: the file
 * @name: name of the counter
 * @count: its value
 *
 * Context: Process.
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
 * rpcrdma2_show_forms - write the lines of a struct rpcrdma2_forms
 * @seq: the file
 * @kind: name of the messages, with which each line begins
 * @forms: their counters
 *
 * Context: Process.
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

/* Codes with a count of zero have no line. */
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
 * rpcrdma2_traffic_add - add the counters of a connection
 * @sum: counters to add to
 * @conn: the connection
 *
 * Context: Any.
 */
void rpcrdma2_traffic_add(struct rpcrdma2_traffic *sum,
			  const struct rpcrdma2_conn *conn)
{
	rpcrdma2_counters_add(&sum->ep, &conn->ep.stats, sizeof(sum->ep));
	rpcrdma2_counters_add(&sum->conn, &conn->stats, sizeof(sum->conn));
}

/**
 * rpcrdma2_show_traffic - write the lines of one or several connections' counters
 * @seq: the file
 * @traffic: their counters, added up by rpcrdma2_traffic_add()
 *
 * Context: Process.
 */
void rpcrdma2_show_traffic(struct seq_file *seq,
			   const struct rpcrdma2_traffic *traffic)
{
	rpcrdma2_show_count(seq, "work_requests", traffic->ep.work_requests);
	rpcrdma2_show_count(seq, "send_doorbells", traffic->ep.send_doorbells);
	rpcrdma2_show_count(seq, "receive_doorbells", traffic->ep.recv_doorbells);
	rpcrdma2_show_count(seq, "completions", traffic->ep.completions);
	rpcrdma2_show_count(seq, "send_queue_waits", traffic->ep.queue_waits);
	rpcrdma2_show_count(seq, "sends", traffic->ep.sends);
	rpcrdma2_show_count(seq, "send_octets", traffic->ep.send_octets);
	rpcrdma2_show_count(seq, "receives", traffic->ep.receives);
	rpcrdma2_show_count(seq, "receive_octets", traffic->ep.receive_octets);
	rpcrdma2_show_count(seq, "size_changes", traffic->conn.resizes);
	rpcrdma2_show_count(seq, "heartbeats", traffic->conn.heartbeats);
	rpcrdma2_show_count(seq, "heartbeats_missed", traffic->conn.heartbeats_missed);
	stats_show_errors(seq, "errors_sent", traffic->conn.errors_sent);
	stats_show_errors(seq, "errors_received", traffic->conn.errors_received);
}
