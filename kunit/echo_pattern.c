// SPDX-License-Identifier: GPL-2.0
/*
 * The bytes of the echo program's payloads, and the pages that hold them.
 *
 * The value of a byte depends on its stream and on its offset in the stream. So bytes
 * at the wrong offset, or of another RPC, are wrong bytes.
 *
 * Nothing here sleeps but echo_pages_alloc().
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include "echo.h"

static u64 echo_word(u64 stream, u64 index)
{
	u64 word = (index + 1) * 0x9e3779b97f4a7c15ULL;

	word ^= (stream + 1) * 0xc2b2ae3d27d4eb4fULL;
	word ^= word >> 29;
	return word * 0xbf58476d1ce4e5b9ULL;
}

/**
 * echo_fill - write part of a stream to memory
 * @buf: the memory
 * @len: bytes
 * @stream: the stream
 * @offset: offset in the stream of the first byte
 *
 * Context: any.
 */
void echo_fill(void *buf, size_t len, u64 stream, size_t offset)
{
	while (len) {
		size_t skip = offset % sizeof(u64);
		size_t n = min(len, sizeof(u64) - skip);
		__le64 word = cpu_to_le64(echo_word(stream,
						    offset / sizeof(u64)));

		if (n == sizeof(u64))
			put_unaligned(word, (__le64 *)buf);
		else
			memcpy(buf, (u8 *)&word + skip, n);
		buf += n;
		offset += n;
		len -= n;
	}
}

/**
 * echo_diff - compare memory with part of a stream
 * @buf: the memory
 * @len: bytes
 * @stream: the stream
 * @offset: offset in the stream of the first byte
 *
 * Context: any.
 *
 * Return: number of correct bytes before the first wrong one; @len if all are correct.
 */
size_t echo_diff(const void *buf, size_t len, u64 stream, size_t offset)
{
	size_t done = 0;

	while (done < len) {
		size_t skip = (offset + done) % sizeof(u64);
		size_t n = min(len - done, sizeof(u64) - skip);
		size_t i;
		__le64 word;

		word = cpu_to_le64(echo_word(stream,
					     (offset + done) / sizeof(u64)));
		if (n == sizeof(u64) &&
		    get_unaligned((__le64 *)(buf + done)) == word) {
			done += n;
			continue;
		}
		for (i = 0; i < n; i++, done++)
			if (((u8 *)buf)[done] != ((u8 *)&word)[skip + i])
				return done;
	}
	return len;
}

/*
 * The part of one page that holds the payload's bytes from @done on; *@n is its length
 */
static void *echo_chunk(struct page **pages, unsigned int base, size_t len,
			size_t done, size_t *n)
{
	size_t at = base + done;

	*n = min_t(size_t, len - done, PAGE_SIZE - offset_in_page(at));
	return page_address(pages[at >> PAGE_SHIFT]) + offset_in_page(at);
}

/**
 * echo_fill_pages - write the start of a stream to pages
 * @pages: the pages
 * @base: offset in the first page
 * @len: bytes
 * @stream: the stream
 *
 * Context: any.
 */
void echo_fill_pages(struct page **pages, unsigned int base, size_t len,
		     u64 stream)
{
	size_t done, n;
	void *p;

	for (done = 0; done < len; done += n) {
		p = echo_chunk(pages, base, len, done, &n);
		echo_fill(p, n, stream, done);
	}
}

/**
 * echo_diff_pages - compare pages with part of a stream
 * @pages: the pages
 * @base: offset in the first page
 * @len: bytes
 * @stream: the stream
 * @offset: offset in the stream of the first byte
 *
 * Context: any.
 *
 * Return: number of correct bytes before the first wrong one; @len if all are correct.
 */
size_t echo_diff_pages(struct page **pages, unsigned int base, size_t len,
		       u64 stream, size_t offset)
{
	size_t done, n, good;
	void *p;

	for (done = 0; done < len; done += n) {
		p = echo_chunk(pages, base, len, done, &n);
		good = echo_diff(p, n, stream, offset + done);
		if (good < n)
			return done + good;
	}
	return len;
}

/**
 * echo_diff_buf - compare an xdr_buf with the start of a stream
 * @buf: head, pages and tail
 * @stream: the stream
 *
 * Context: any.
 *
 * Return: offset of the first wrong byte, or ECHO_ALL_GOOD.
 */
u32 echo_diff_buf(const struct xdr_buf *buf, u64 stream)
{
	size_t head = buf->head[0].iov_len, tail = buf->tail[0].iov_len;
	size_t good;

	good = echo_diff(buf->head[0].iov_base, head, stream, 0);
	if (good < head)
		return good;
	good = echo_diff_pages(buf->pages, buf->page_base, buf->page_len,
			       stream, head);
	if (good < buf->page_len)
		return head + good;
	good = echo_diff(buf->tail[0].iov_base, tail, stream,
			 head + buf->page_len);
	if (good < tail)
		return head + buf->page_len + good;
	return ECHO_ALL_GOOD;
}

/**
 * echo_pages_alloc - allocate pages for a payload
 * @ep: receives the pages
 * @base: offset of the payload in the first page
 * @len: bytes of the payload
 *
 * An empty payload has a page, too, so that a test can watch its margins.
 *
 * Context: process, may sleep.
 *
 * Return: 0 or -ENOMEM.
 */
int echo_pages_alloc(struct echo_pages *ep, unsigned int base,
		     unsigned int len)
{
	unsigned int nr = max(1UL, DIV_ROUND_UP(base + len, PAGE_SIZE));

	ep->base = base;
	ep->len = len;
	ep->nr = 0;
	ep->pages = kcalloc(nr, sizeof(*ep->pages), GFP_KERNEL);
	if (!ep->pages)
		return -ENOMEM;
	for (; ep->nr < nr; ep->nr++) {
		ep->pages[ep->nr] = alloc_page(GFP_KERNEL);
		if (!ep->pages[ep->nr])
			goto out_free;
	}
	return 0;

out_free:
	echo_pages_free(ep);
	return -ENOMEM;
}

/**
 * echo_pages_free - free pages
 * @ep: pages from echo_pages_alloc(), or all zeros
 *
 * Context: any.
 */
void echo_pages_free(struct echo_pages *ep)
{
	while (ep->nr)
		__free_page(ep->pages[--ep->nr]);
	kfree(ep->pages);
	ep->pages = NULL;
}

/**
 * echo_pages_poison - fill all pages with a byte
 * @ep: the pages
 * @poison: the byte
 *
 * Context: any.
 */
void echo_pages_poison(struct echo_pages *ep, u8 poison)
{
	unsigned int i;

	for (i = 0; i < ep->nr; i++)
		memset(page_address(ep->pages[i]), poison, PAGE_SIZE);
}

/**
 * echo_pages_poisoned - check that nobody has written to the pages
 * @ep: pages that echo_pages_poison() has filled
 * @poison: the byte
 *
 * Context: any.
 *
 * Return: true if the pages hold nothing but @poison.
 */
bool echo_pages_poisoned(struct echo_pages *ep, u8 poison)
{
	unsigned int i;

	for (i = 0; i < ep->nr; i++)
		if (memchr_inv(page_address(ep->pages[i]), poison, PAGE_SIZE))
			return false;
	return true;
}

/**
 * echo_pages_margins_poisoned - check that nobody has written beside the payload
 * @ep: pages that echo_pages_poison() has filled
 * @poison: the byte
 *
 * Context: any.
 *
 * Return: true if the pages before and behind the payload hold nothing but @poison.
 */
bool echo_pages_margins_poisoned(struct echo_pages *ep, u8 poison)
{
	unsigned int end = ep->base + ep->len;
	void *last = page_address(ep->pages[ep->nr - 1]);
	unsigned int used = end - (ep->nr - 1) * PAGE_SIZE;

	if (memchr_inv(page_address(ep->pages[0]), poison, ep->base))
		return false;
	return !memchr_inv(last + used, poison, PAGE_SIZE - used);
}
