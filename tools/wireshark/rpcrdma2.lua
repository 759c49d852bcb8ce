-- SPDX-License-Identifier: GPL-2.0
--
-- Wireshark dissector for RPC-over-RDMA version 2, over RoCE v2 and iWARP. It knows
-- draft-cel-nfsv4-rpcrdma-version-two-09, and the draft of 2016
-- (draft-cel-nfsv4-rpcrdma-version-two-01).
--
-- It dissects Sends of version 2 only, and leaves version 1 to Wireshark's own dissector.
-- A message is malformed if a receiver refuses it: Documentation/protocol/implementation.rst.
-- This does not include limits that an implementation is free to choose.
--
-- The parts of this file, in order: fields; parsing of headers; chunk lists; header
-- types; the draft of 2016; the RPC message; the choice of Sends.

set_plugin_info({
	version = "1.0",
	description = "RPC-over-RDMA version 2",
})

local rpcrdma2 = Proto("rpcrdma2", "RPC-over-RDMA version 2")

local VERSION = 2
local MSG, NOMSG, ERROR, CONNPROP = 0, 1, 4, 5
-- An extension: Documentation/protocol/property-change.rst
local REQUEST, DISPOSITION, UPDATE = 0xffffff01, 0xffffff02, 0xffffff03
local HTYPES = {
	[MSG] = "MSG", [NOMSG] = "NOMSG", [ERROR] = "ERROR",
	[CONNPROP] = "CONNPROP", [REQUEST] = "REQUEST",
	[DISPOSITION] = "DISPOSITION", [UPDATE] = "UPDATE",
}
local ERR_VERS, ERR_READ_CHUNKS, ERR_SYSTEM = 1, 4, 9
local OTHERS_LAST_ERROR = 100
local ERRORS = {
	[1] = "VERS", [2] = "BAD_XDR", [3] = "INVAL_HTYPE",
	[4] = "READ_CHUNKS", [5] = "WRITE_CHUNKS", [6] = "SEGMENTS",
	[7] = "WRITE_RESOURCE", [8] = "REPLY_RESOURCE", [9] = "SYSTEM",
}
local RBSIZ, BRS = 1, 2
local EXPERIMENTAL = 0xffffff00
local CHANGES, WISH = 0xffffff01, 0xffffff02
local PROPERTIES = {
	[RBSIZ] = "Receive Buffer Size", [BRS] = "Reverse Request Support",
	[CHANGES] = "Changes of properties", [WISH] = "Wished Receive Buffer Size",
}
local RBSIZ_MIN = 1024
local RVREQSUP = { [0] = "NONE", [1] = "INLINE", [2] = "GENL" }
local BOOLEAN = { [0] = "no", [1] = "yes" }

-- The draft of 2016, and its characteristics (draft-dnoveck-nfsv4-rpcrdma-xcharext-01)
local DIRECTIONS = { [0] = "Call", [1] = "Reply" }
local INIT_XCHAR, REQ_XCHAR, RESP_XCHAR, UPD_XCHAR = 1, 2, 3, 4
local OPERATIONS = {
	[INIT_XCHAR] = "INIT_XCHAR", [REQ_XCHAR] = "REQ_XCHAR",
	[RESP_XCHAR] = "RESP_XCHAR", [UPD_XCHAR] = "UPD_XCHAR",
}
local XCHAR_RQREMINV, XCHAR_BRS = 2, 3
local CHARACTERISTICS = {
	[RBSIZ] = "Receive Buffer Size",
	[XCHAR_RQREMINV] = "Requester Remote Invalidation",
	[XCHAR_BRS] = "Backward Request Support",
	[WISH] = "Wished Receive Buffer Size",
}
local BKRQSUP = { [0] = "UNKNOWN", [1] = "NONE", [2] = "SZLIM", [3] = "GENL" }

local SEGMENT_SIZE = 16		-- octets
local UNFOLD_MAX = 4194304	-- octets; no larger RPC is put together

local f = {
	xid = ProtoField.uint32("rpcrdma2.xid", "XID", base.HEX),
	vers = ProtoField.uint32("rpcrdma2.vers", "Version"),
	credit = ProtoField.uint32("rpcrdma2.credit", "Credit"),
	htype = ProtoField.uint32("rpcrdma2.htype", "Header type", base.DEC, HTYPES),
	flags = ProtoField.uint32("rpcrdma2.flags", "Flags", base.HEX),
	response = ProtoField.bool("rpcrdma2.flags.response", "Response", 32, nil, 1),
	inv_handle = ProtoField.uint32("rpcrdma2.inv_handle",
		"Handle to invalidate", base.HEX),
	follows = ProtoField.uint32("rpcrdma2.follows", "Follows", base.DEC, BOOLEAN),

	read_position = ProtoField.uint32("rpcrdma2.read.position", "Position"),
	read_length = ProtoField.uint32("rpcrdma2.read.length", "Length"),
	write_count = ProtoField.uint32("rpcrdma2.write.count", "Segments"),
	write_length = ProtoField.uint32("rpcrdma2.write.length", "Length"),
	reply_count = ProtoField.uint32("rpcrdma2.reply.count", "Segments"),
	reply_length = ProtoField.uint32("rpcrdma2.reply.length", "Length"),
	handle = ProtoField.uint32("rpcrdma2.segment.handle", "Handle", base.HEX),
	length = ProtoField.uint32("rpcrdma2.segment.length", "Length"),
	offset = ProtoField.uint64("rpcrdma2.segment.offset", "Offset", base.HEX),

	prop_count = ProtoField.uint32("rpcrdma2.prop.count", "Properties"),
	prop_id = ProtoField.uint32("rpcrdma2.prop.id", "Property", base.DEC, PROPERTIES),
	prop_len = ProtoField.uint32("rpcrdma2.prop.len", "Length"),
	prop_rbsiz = ProtoField.uint32("rpcrdma2.prop.rbsiz", PROPERTIES[RBSIZ]),
	prop_brs = ProtoField.uint32("rpcrdma2.prop.brs", PROPERTIES[BRS],
		base.DEC, RVREQSUP),
	prop_changes = ProtoField.uint32("rpcrdma2.prop.changes", PROPERTIES[CHANGES],
		base.HEX),
	prop_wish = ProtoField.uint32("rpcrdma2.prop.wished_rbsiz", PROPERTIES[WISH]),
	prop_data = ProtoField.bytes("rpcrdma2.prop.data", "Data"),

	subset = ProtoField.uint32("rpcrdma2.change.words", "Words of the subset"),
	done = ProtoField.uint32("rpcrdma2.change.done", "Done", base.HEX),
	rejected = ProtoField.uint32("rpcrdma2.change.rejected", "Rejected", base.HEX),
	pending = ProtoField.uint32("rpcrdma2.change.pending", "Pending", base.HEX),
	settled = ProtoField.uint32("rpcrdma2.change.settled", "Settles what was pending",
		base.DEC, BOOLEAN),

	direction = ProtoField.uint32("rpcrdma2.direction", "Direction", base.DEC, DIRECTIONS),
	operation = ProtoField.uint32("rpcrdma2.operation", "Operation", base.DEC, OPERATIONS),
	info_len = ProtoField.uint32("rpcrdma2.operation.len", "Length of its arguments"),
	info = ProtoField.bytes("rpcrdma2.operation.info", "Arguments"),
	xchar_id = ProtoField.uint32("rpcrdma2.xchar.id", "Characteristic", base.DEC,
		CHARACTERISTICS),
	xchar_rqreminv = ProtoField.uint32("rpcrdma2.xchar.rqreminv",
		CHARACTERISTICS[XCHAR_RQREMINV], base.DEC, BOOLEAN),
	xchar_brs = ProtoField.uint32("rpcrdma2.xchar.brs", CHARACTERISTICS[XCHAR_BRS],
		base.DEC, BKRQSUP),
	xchar_nochange = ProtoField.uint32("rpcrdma2.xchar.nochange",
		"Which won't change", base.HEX),

	err_code = ProtoField.uint32("rpcrdma2.error.code", "Error", base.DEC, ERRORS),
	err_low = ProtoField.uint32("rpcrdma2.error.vers_low", "Lowest version"),
	err_high = ProtoField.uint32("rpcrdma2.error.vers_high", "Highest version"),
	err_reads = ProtoField.uint32("rpcrdma2.error.max_read_chunks", "Most Read chunks"),
	err_writes = ProtoField.uint32("rpcrdma2.error.max_write_chunks",
		"Most Write chunks"),
	err_segments = ProtoField.uint32("rpcrdma2.error.max_segments", "Most segments"),
	err_index = ProtoField.uint32("rpcrdma2.error.chunk_index", "Write chunk"),
	err_length = ProtoField.uint32("rpcrdma2.error.length_needed", "Length needed"),

	piece = ProtoField.framenum("rpcrdma2.piece", "Packet of this Send"),
	last_piece = ProtoField.framenum("rpcrdma2.reassembled_in", "Message in frame"),
}
rpcrdma2.fields = f

-- The arguments that follow an error code
local ERROR_WORDS = {
	[1] = { f.err_low, f.err_high },
	[4] = { f.err_reads },
	[5] = { f.err_writes },
	[6] = { f.err_segments },
	[7] = { f.err_index, f.err_length },
	[8] = { f.err_length },
}

local e = {
	malformed = ProtoExpert.new("rpcrdma2.malformed", "Malformed",
		expert.group.MALFORMED, expert.severity.ERROR),
	elsewhere = ProtoExpert.new("rpcrdma2.elsewhere", "Travels by chunks",
		expert.group.REASSEMBLE, expert.severity.CHAT),
	cut = ProtoExpert.new("rpcrdma2.cut", "Not captured as a whole",
		expert.group.UNDECODED, expert.severity.NOTE),
}
rpcrdma2.experts = e

local rpc = Dissector.get("rpc")
local data = Dissector.get("data")

-- Parsing of headers -------------------------------------------------------------
--
-- A header knows its octets, the position up to which they are parsed, the current
-- place in the tree, and everything found so far.

local Header = {}
Header.__index = Header

-- malformed - stop parsing, with an error that describes the fault
local function malformed(...)
	error({ malformed = string.format(...) }, 0)
end

function Header:remaining() return self.tvb:len() - self.pos end

function Header:peek(skip) return self.tvb(self.pos + (skip or 0), 4):uint() end

-- word - take a word, and show it as one field or as several
function Header:word(what, ...)
	if self:remaining() < 4 then
		malformed("it ends before its %s", what)
	end
	local range = self.tvb(self.pos, 4)
	for _, field in ipairs({ ... }) do
		self.tree:add(field, range)
	end
	self.pos = self.pos + 4
	return range:uint()
end

-- boolean - take the word that says whether a list has one more link
function Header:boolean(what)
	local value = self:word(what, f.follows)

	if value > 1 then
		malformed("%s is announced by %d, neither 0 nor 1", what, value)
	end
	return value == 1
end

-- within - parse into a subtree
function Header:within(text, parse, ...)
	local outer, start = self.tree, self.pos

	self.tree = outer:add(self.tvb(start, 0), text)
	local result = parse(self, ...)
	self.tree:set_len(self.pos - start)
	self.tree = outer
	return result
end

-- Chunk lists: v2-09, 3.3 ------------------------------------------------------

local function round_up(length) return length + -length % 4 end

local function segments(count, kind)
	return string.format("%d %ssegment%s", count, kind or "", count == 1 and "" or "s")
end

local function parse_segment(h, chunk)
	if h:remaining() < SEGMENT_SIZE then
		malformed("it ends before a segment does")
	end
	local handle = h:word("handle", f.handle)
	local length = h:word("length", f.length)
	local offset = h.tvb(h.pos, 8)
	h.tree:add(f.offset, offset)
	h.pos = h.pos + 8
	h.tree:append_text(string.format(": handle 0x%08x, %d octets", handle, length))

	if offset:uint64() + length < offset:uint64() then
		malformed("a segment wraps around the address space")
	end
	chunk.segments = chunk.segments + 1
	chunk.length = chunk.length + length
	if chunk.length >= 2 ^ 32 then
		malformed("a chunk has 4 GiB or more")
	end
	h.handles[handle] = true
end

local function new_chunk(position)
	return { position = position, segments = 0, length = 0 }
end

-- read_chunk_at - find or make the Read chunk at a position. The segments of a chunk
-- must follow each other.
local function read_chunk_at(h, position)
	local last = h.reads[#h.reads]

	if last and last.position == position then
		return last
	end
	if position % 4 ~= 0 then
		malformed("position %d is not a multiple of four", position)
	end
	if h.read_at[position] then
		malformed("the Read chunk at position %d is divided by another", position)
	end
	h.read_at[position] = new_chunk(position)
	table.insert(h.reads, h.read_at[position])
	return h.read_at[position]
end

local function parse_read_segment(h)
	local position = h:word("position", f.read_position)

	h.tree:append_text(" at position " .. position)
	parse_segment(h, read_chunk_at(h, position))
end

local function parse_read_list(h)
	while h:boolean("Read segment") do
		h:within("Read segment", parse_read_segment)
	end
	for _, chunk in ipairs(h.reads) do
		h.tree:add(f.read_length, chunk.length):set_generated()
	end
end

local function parse_segment_array(h, what, count_field, length_field)
	local chunk = new_chunk()
	local count = h:word("count of segments", count_field)

	if count > h:remaining() / SEGMENT_SIZE then
		malformed("a %s of %d segments does not fit", what, count)
	end
	for i = 1, count do
		h:within("Segment " .. i, parse_segment, chunk)
	end
	h.tree:add(length_field, chunk.length):set_generated()
	h.tree:append_text(string.format(": %s, %d octets", segments(count), chunk.length))
	return chunk
end

local function parse_write_list(h)
	while h:boolean("Write chunk") do
		table.insert(h.writes, h:within("Write chunk", parse_segment_array,
			"Write chunk", f.write_count, f.write_length))
	end
end

local function parse_reply_chunk(h)
	if h:boolean("Reply chunk") then
		h.reply = h:within("Reply chunk", parse_segment_array,
			"Reply chunk", f.reply_count, f.reply_length)
	end
end

-- Positions count octets of the whole payload stream, including those in chunks.
-- length is what the message has inline. XID and direction are always inline.
local function check_reads(h, length)
	local by_position, cut, previous_end = {}, 0, 0

	for _, chunk in ipairs(h.reads) do
		if chunk.position > 0 then
			table.insert(by_position, chunk)
		end
	end
	table.sort(by_position, function(a, b) return a.position < b.position end)
	for _, chunk in ipairs(by_position) do
		if chunk.position < previous_end then
			malformed("the Read chunk at position %d overlaps another",
				  chunk.position)
		end
		if chunk.position < 8 or chunk.position - cut > length then
			malformed("the Read chunk at position %d is outside of the RPC message",
				  chunk.position)
		end
		h.cuts[#h.cuts + 1] = { at = chunk.position - cut, length = chunk.length }
		previous_end = chunk.position + chunk.length
		cut = cut + round_up(chunk.length)
	end
end

-- The header types: v2-09, 5.3 -------------------------------------------------

local function count_segments(chunks)
	local count = 0

	for _, chunk in ipairs(chunks) do
		count = count + chunk.segments
	end
	return count
end

local function summarize_chunks(h)
	for _, list in ipairs({ { "Read ", h.reads }, { "Write ", h.writes },
				{ "Reply ", { h.reply } } }) do
		local kind, chunks = list[1], list[2]

		if #chunks > 0 then
			h.summary = h.summary .. ", " .. segments(count_segments(chunks), kind)
		end
	end
end

-- The RPC message repeats the XID and has a direction.
local function check_rpc_message(h)
	if h.read_at[0] then
		malformed("MSG has a Read chunk at position 0")
	end
	if h:remaining() < 8 then
		malformed("it ends before the RPC message's direction")
	end
	if h:peek() ~= h.xid then
		malformed("the RPC message has XID 0x%08x", h:peek())
	end
	if h:peek(4) ~= (h.response and 1 or 0) then
		malformed("the RPC message has direction %d", h:peek(4))
	end
	check_reads(h, h:remaining())
end

-- The whole RPC message lies in a chunk.
local function check_external_message(h)
	local chunk = h.read_at[0]

	if h.response then
		chunk = h.reply
	end
	if not chunk or chunk.length < 8 then
		malformed("NOMSG has no %s for the RPC message", h.response and
			  "Reply chunk" or "Read chunk at position 0")
	end
	if h:remaining() > 0 then
		malformed("%d octets follow the chunks of a NOMSG", h:remaining())
	end
	check_reads(h, chunk.length)
end

local function parse_rpc(h)
	h.summary = h.summary .. (h.response and " Reply" or " Call")
	local inv_handle = h.of_2016 and 0 or
			   h:word("handle to invalidate", f.inv_handle)
	h:within("Read list", parse_read_list)
	h:within("Write list", parse_write_list)
	h:within("Reply chunk", parse_reply_chunk)
	summarize_chunks(h)

	if h.response and #h.reads > 0 then
		malformed("a Reply has a Read list")
	end
	if not h.response and inv_handle ~= 0 and not h.handles[inv_handle] then
		malformed("handle to invalidate 0x%08x is in no chunk", inv_handle)
	end
	if h.htype == MSG then
		check_rpc_message(h)
	else
		check_external_message(h)
	end
end

-- Some errors have no flags word. One is ERR_VERS from a peer that knows version 1
-- only: its code is where the flags word would be, and the lowest version follows, 3 at
-- most. An error of version 2 with one argument is as long and may begin with the same
-- word, RESPONSE. But its code follows, which is at least READ_CHUNKS. The others are
-- errors of other drafts, without arguments.
local function is_bare_error(h)
	if h.htype ~= ERROR then
		return false
	elseif h:remaining() == 4 then
		return h:peek() > ERR_VERS and h:peek() <= OTHERS_LAST_ERROR
	end
	return h:remaining() == 12 and h:peek() == ERR_VERS and
	       h:peek(4) < ERR_READ_CHUNKS
end

local function parse_error(h)
	local code = h:word("error code", f.err_code)
	local words = {}

	if h.bare and code ~= ERR_VERS then
		h.summary = h.summary .. " " .. code .. " of another draft"
		return
	end
	h.summary = h.summary .. " " .. (ERRORS[code] or code)
	if code == 0 then
		malformed("error code 0")
	end
	for i, field in ipairs(ERROR_WORDS[code] or {}) do
		words[i] = h:word("error's arguments", field)
	end
	if code == ERR_VERS and words[1] > words[2] then
		malformed("versions from %d to %d", words[1], words[2])
	end
	if code <= ERR_SYSTEM and h:remaining() > 0 then
		malformed("%d octets follow the error", h:remaining())
	end
	if not h.response then
		malformed("an error is not marked as a response")
	end
end

-- The properties of each draft: fields, and names of values. If empty is true, a
-- property without data has its default value.
local PROPERTIES_OF_2019 = {
	names = PROPERTIES, id = f.prop_id, empty = true,
	fields = { [RBSIZ] = f.prop_rbsiz, [BRS] = f.prop_brs,
		   [CHANGES] = f.prop_changes, [WISH] = f.prop_wish },
	values = { [BRS] = RVREQSUP },
}
local PROPERTIES_OF_2016 = {
	names = CHARACTERISTICS, id = f.xchar_id, empty = false,
	fields = { [RBSIZ] = f.prop_rbsiz, [XCHAR_RQREMINV] = f.xchar_rqreminv,
		   [XCHAR_BRS] = f.xchar_brs, [WISH] = f.prop_wish },
	values = { [XCHAR_RQREMINV] = BOOLEAN, [XCHAR_BRS] = BKRQSUP },
}

local function check_property(set, id, value)
	if id == RBSIZ and (value < RBSIZ_MIN or value % 4 ~= 0) then
		malformed("Receive Buffer Size %d", value)
	end
	if set.values[id] and not set.values[id][value] then
		malformed("%s %d", set.names[id], value)
	end
end

local function parse_property(h, set)
	local id = h:word("property", set.id)
	local length = h:word("length of a property", f.prop_len)

	h.tree:append_text(": " .. (set.names[id] or id))
	if length > h:remaining() then
		malformed("a property of %d octets does not fit", length)
	end
	-- Somebody else may use the same id for an experiment.
	local known = set.fields[id] and (length == 4 or id < EXPERIMENTAL)
	if known and (length > 0 or not set.empty) then
		if length ~= 4 then
			malformed("%s has %d octets", set.names[id], length)
		end
		local value = h:word(set.names[id], set.fields[id])
		h.tree:append_text(" " .. value)
		check_property(set, id, value)
	elseif length > 0 then
		h.tree:add(f.prop_data, h.tvb(h.pos, length))
		h.pos = h.pos + round_up(length)
	end
end

local function parse_properties(h, set)
	local count = h:word("count of properties", f.prop_count)

	if count > h:remaining() / 8 then
		malformed("%d properties do not fit", count)
	end
	for i = 1, count do
		h:within("Property " .. i, parse_property, set)
	end
end

local function expect_end(h, what)
	if h:remaining() > 0 then
		malformed("%d octets follow %s", h:remaining(), what)
	end
end

local function parse_connprop(h)
	parse_properties(h, PROPERTIES_OF_2019)
	expect_end(h, "the last property")
end

-- Changes of properties ----------------------------------------------------------
--
-- Both drafts have the same messages, but different properties.

local function parse_subset(h, field)
	local count, subset = h:word("count of words", f.subset), {}

	if count > h:remaining() / 4 then
		malformed("a subset of %d words does not fit", count)
	end
	for i = 1, count do
		subset[i] = h:word("subset", field)
	end
	return subset
end

local function check_disjoint(a, b)
	for i = 1, math.min(#a, #b) do
		if bit.band(a[i], b[i]) ~= 0 then
			malformed("subsets overlap")
		end
	end
end

local function parse_request(h, set)
	parse_properties(h, set)
	expect_end(h, "the last property")
end

local function parse_disposition(h)
	local done = h:within("Done", parse_subset, f.done)
	local rejected = h:within("Rejected", parse_subset, f.rejected)
	local pending = h:within("Pending", parse_subset, f.pending)

	check_disjoint(done, rejected)
	check_disjoint(done, pending)
	check_disjoint(rejected, pending)
	expect_end(h, "the last subset")
end

local function parse_update(h, set)
	h:within("Property", parse_property, set)
	local settled = h:word("boolean", f.settled)

	if settled > 1 then
		malformed("a request is settled by %d, neither 0 nor 1", settled)
	end
	expect_end(h, "the update")
end

-- The draft of 2016 ------------------------------------------------------------
--
-- It has no flags: the direction comes first, and then the lists, or an operation. A
-- message that is well-formed in one draft is malformed in the other.

-- end_of_lists - where chunk lists that start at a position end, or nil
local function end_of_lists(tvb, pos)
	local function word()
		pos = pos + 4
		return pos <= tvb:len() and tvb(pos - 4, 4):uint() or nil
	end
	local function array()
		local count = word() or 0

		pos = pos + count * SEGMENT_SIZE
	end
	local follows

	repeat
		follows = word()
		pos = pos + (follows == 1 and 4 + SEGMENT_SIZE or 0)
	until follows ~= 1
	if follows ~= 0 then
		return nil
	end
	for _, last in ipairs({ false, true }) do
		repeat
			follows = word()
			if follows == 1 then
				array()
			end
		until follows ~= 1 or last
		if not follows or follows > 1 then
			return nil
		end
	end
	return pos <= tvb:len() and pos or nil
end

-- leads_to_rpc - do lists from a position on end where the header type says?
--
-- A MSG continues with the XID and the direction of the RPC message. A NOMSG ends.
local function leads_to_rpc(h, pos, direction)
	local at = end_of_lists(h.tvb, pos)

	if not at or h.htype == NOMSG then
		return at == h.tvb:len()
	end
	return at + 8 <= h.tvb:len() and h.tvb(at, 4):uint() == h.xid and
	       h.tvb(at + 4, 4):uint() == direction
end

local function is_of_2016(h)
	local tvb = h.tvb

	if h.htype == CONNPROP then
		return tvb:len() >= 28 and tvb(16, 4):uint() <= 1 and
		       tvb(24, 4):uint() == tvb:len() - 28
	elseif h.htype ~= MSG and h.htype ~= NOMSG or tvb:len() < 24 then
		return false
	end
	local word = tvb(16, 4):uint()
	return leads_to_rpc(h, 20, word) and not leads_to_rpc(h, 24, word % 2)
end

local function parse_init(h)
	parse_properties(h, PROPERTIES_OF_2016)
	h:within("Subset", parse_subset, f.xchar_nochange)
	expect_end(h, "the subset")
end

-- is_of_2016() has checked that nothing follows the arguments.
local function parse_optional(h)
	local operation = h:word("operation", f.operation)
	local length = h:word("length of its arguments", f.info_len)

	h.summary = h.summary .. " " .. (OPERATIONS[operation] or operation)
	if operation == INIT_XCHAR then
		parse_init(h)
	elseif operation == REQ_XCHAR then
		parse_request(h, PROPERTIES_OF_2016)
	elseif operation == RESP_XCHAR then
		parse_disposition(h)
	elseif operation == UPD_XCHAR then
		parse_update(h, PROPERTIES_OF_2016)
	elseif length > 0 then
		h.tree:add(f.info, h.tvb(h.pos, length))
		h.pos = h.pos + length
	end
end

local function parse_2016(h)
	h.of_2016 = true
	h.response = h:word("direction", f.direction) == 1
	if h.htype == CONNPROP then
		h.summary = "of 2016, OPTIONAL"
		parse_optional(h)
	else
		h.summary = "of 2016, " .. h.summary
		parse_rpc(h)
	end
end

local function parse_header(h)
	h.xid = h:word("XID", f.xid)
	h.vers = h:word("version", f.vers)
	h:word("credit", f.credit)
	h.htype = h:word("header type", f.htype)
	h.summary = HTYPES[h.htype] or "header type " .. h.htype
	if h.tvb:len() % 4 ~= 0 then
		malformed("its length %d is not a multiple of four", h.tvb:len())
	end
	if h.vers ~= VERSION then
		malformed("version %d", h.vers)
	end
	if not HTYPES[h.htype] then
		malformed("header type %d is unknown", h.htype)
	elseif is_of_2016(h) then
		return parse_2016(h)
	elseif is_bare_error(h) then
		h.bare, h.response = true, true
	else
		h.response = h:word("flags", f.flags, f.response) % 2 == 1
	end

	if h.htype == MSG or h.htype == NOMSG then
		parse_rpc(h)
	elseif h.htype == ERROR then
		parse_error(h)
	elseif h.htype == REQUEST then
		parse_request(h, PROPERTIES_OF_2019)
	elseif h.htype == DISPOSITION then
		parse_disposition(h)
	elseif h.htype == UPDATE then
		parse_update(h, PROPERTIES_OF_2019)
	else
		parse_connprop(h)
	end
end

-- The RPC message ---------------------------------------------------------------
--
-- RDMA Reads or Writes carry the parts that are in chunks. Wireshark's dissectors need
-- these parts to find what follows them, so zeroes stand in for them.

-- Nothing says where the data of a Write chunk belongs in the message. But the data
-- follows its own length. So the place is known if that number occurs just once.
local function find_write_cuts(h, message)
	local behind, from = {}, 0

	for at = 0, message:len() - 4, 4 do
		local word = message(at, 4):uint()
		behind[word] = behind[word] == nil and at + 4
	end
	for _, chunk in ipairs(h.writes) do
		if chunk.length > 0 then
			local place = behind[chunk.length]
			if not place or place < from then
				return false
			end
			table.insert(h.cuts, { at = place, length = chunk.length })
			from = place
		end
	end
	return true
end

-- unfold - the RPC message with zeroes for the data in chunks, or nil
local function unfold(h, message)
	local octets, whole, from, added = message:raw(), "", 0, 0

	for _, cut in ipairs(h.cuts) do
		local zeroes = round_up(cut.length)

		added = added + zeroes
		if added > UNFOLD_MAX then
			return nil
		end
		whole = whole .. octets:sub(from + 1, cut.at) .. ("\0"):rep(zeroes)
		from = cut.at
	end
	whole = whole .. octets:sub(from + 1)
	return ByteArray.new(whole, true):tvb("RPC message, chunks as zeroes")
end

-- rpc_message - the octets for the RPC dissector, and a remark on them
local function rpc_message(h)
	if h.htype == NOMSG then
		return nil, h.response and "The RPC message is in the Reply chunk" or
			    "The RPC message is in a Read chunk"
	end

	local message = h.tvb:range(h.pos):tvb()
	if h.response and not find_write_cuts(h, message) then
		return nil, "The data of a Write chunk has no certain place"
	end
	if #h.cuts == 0 then
		return message
	end
	local whole = unfold(h, message)
	return whole, whole and "Data in chunks is shown as zeroes" or
		      "The data in chunks is too large to show"
end

local UNKNOWN_QP = 0xffffffff

-- A Reply finds its Call by the requester's queue pair. If the capture lacks the start
-- of the connection, the sender's queue pair is unknown. Then neither may matter.
--
-- If the RPC dissector fails, its error is in the tree already.
local function call_rpc(message, pinfo, root)
	if pinfo.src_port == UNKNOWN_QP then
		pinfo.src_port = 0
		pinfo.dst_port = 0
	end
	local ok, used = pcall(rpc.call, rpc, message, pinfo, root)
	return not ok or used > 0
end

local function hand_on(h, pinfo, root)
	local message, remark = rpc_message(h)

	if remark then
		h.tree:add_proto_expert_info(e.elsewhere, remark)
	end
	if message and call_rpc(message, pinfo, root) then
		return
	end
	if h:remaining() > 0 then
		data:call(h.tvb:range(h.pos):tvb(), pinfo, root)
	end
end

local function dissect_message(tvb, pinfo, root)
	local h = setmetatable({
		tvb = tvb, pos = 0, tree = root:add(rpcrdma2, tvb()),
		reads = {}, read_at = {}, writes = {}, cuts = {}, handles = {},
	}, Header)
	local tree = h.tree
	local ok, problem = pcall(parse_header, h)

	h.tree = tree
	if not ok and not problem.malformed then
		error(problem)
	end
	tree:set_len(h.pos)
	tree:append_text(", " .. (h.summary or "cut short"))
	pinfo.cols.protocol = "RPCoRDMAv2"
	pinfo.cols.info = "RPC-over-RDMA v2 " .. (h.summary or "cut short")
	if pinfo.caplen < pinfo.len then
		tree:add_proto_expert_info(e.cut)
		return tree
	end
	if not ok then
		tree:add_proto_expert_info(e.malformed, "Malformed: " .. problem.malformed)
		pinfo.cols.info:append(" [Malformed: " .. problem.malformed .. "]")
		return tree
	end
	if h.htype == MSG or h.htype == NOMSG then
		pinfo.cols.info:append(" ")
		pinfo.cols.info:fence()
		hand_on(h, pinfo, root)
	end
	return tree
end

-- The choice of Sends ----------------------------------------------------------
--
-- A flow is one direction of a connection. Its first message that looks like version 2
-- marks it. From then on, each Send in it is dissected, until a message of version 1.

local flows

local function looks_like_ours(tvb)
	return tvb:len() >= 20 and tvb(4, 4):uint() == VERSION and
	       HTYPES[tvb(12, 4):uint()] ~= nil and tvb(16, 4):uint() <= 1
end

local function is_ours(flow, tvb)
	if tvb:len() >= 8 and tvb(4, 4):uint() == 1 then
		flows[flow] = nil
	elseif looks_like_ours(tvb) then
		flows[flow] = true
	end
	return flows[flow]
end

local function dissect_if_ours(flow, tvb, pinfo, root)
	if not is_ours(flow, tvb) then
		return false
	end
	dissect_message(tvb, pinfo, root)
	return true
end

-- RoCE v2: this puts the packets of a Send together, in order of sequence numbers. A
-- packet out of order does not count: its sender repeats it.
--
-- The first pass of Wireshark, and of tshark -2, has no fields. So a step between UDP
-- and InfiniBand reads the transport header itself.

local ROCE_PORT = 4791
local BTH_SIZE, ICRC_SIZE = 12, 4
local FIRST, MIDDLE, LAST, ONLY = 1, 2, 3, 4
-- The place in a Send, by opcode. A Last or Only packet may also have immediate data,
-- or a handle to invalidate.
local PLACES = {
	[0] = FIRST, [1] = MIDDLE, [2] = LAST, [3] = LAST, [4] = ONLY, [5] = ONLY,
	[22] = LAST, [23] = ONLY,
}
local EXTRA_SIZE = { [3] = 4, [5] = 4, [22] = 4, [23] = 4 }

local roce = Proto("rpcrdma2_roce", "RoCE v2 for RPC-over-RDMA version 2")
local ports = DissectorTable.get("udp.port")
local infiniband = ports:get_dissector(ROCE_PORT)
local packet	-- the packet of a Send that is being dissected
local open	-- by flow: the Send that is not complete yet
local sends	-- by frame: the Send that has the frame as one of several packets

local function read_bth(tvb, pinfo)
	local opcode = tvb:len() > BTH_SIZE and tvb(0, 1):uint()
	local start = BTH_SIZE + (EXTRA_SIZE[opcode] or 0)
	local length = tvb:len() - start - ICRC_SIZE

	if not PLACES[opcode] then
		return nil
	end
	length = length - tvb(1, 1):bitfield(2, 2)
	return length > 0 and {
		flow = string.format("%s %s %d", pinfo.src, pinfo.dst, tvb(5, 3):uint()),
		place = PLACES[opcode],
		psn = tvb(9, 3):uint(),
		payload = tvb(start, length):tvb(),
	}
end

local function collect(payload, number)
	local send = open[packet.flow]

	if packet.place == FIRST then
		send = is_ours(packet.flow, payload) and
			{ psn = packet.psn, parts = {}, frames = {} }
		open[packet.flow] = send
	end
	if not send or send.psn ~= packet.psn then
		return
	end
	send.psn = (send.psn + 1) % 2 ^ 24
	table.insert(send.parts, payload:raw())
	table.insert(send.frames, number)
	sends[number] = send
	if packet.place == LAST then
		send.last = number
		open[packet.flow] = nil
	end
end

local function dissect_last(send, pinfo, root)
	local whole = ByteArray.new(table.concat(send.parts), true)
	local tree = dissect_message(whole:tvb("RPC-over-RDMA message"), pinfo, root)

	for _, number in ipairs(send.frames) do
		tree:add(f.piece, number):set_generated()
	end
end

local function dissect_part(send, payload, pinfo, root)
	local tree = root:add(rpcrdma2, payload(), "RPC-over-RDMA version 2, part of a Send")

	if send.last then
		tree:add(f.last_piece, send.last):set_generated()
	end
	pinfo.cols.protocol = "RPCoRDMAv2"
	pinfo.cols.info = "RPC-over-RDMA v2, part of a Send"
	data:call(payload, pinfo, tree)
end

local function dissect_packet(pinfo, root)
	if packet.place == ONLY then
		return dissect_if_ours(packet.flow, packet.payload, pinfo, root)
	end

	if not pinfo.visited then
		collect(packet.payload, pinfo.number)
	end
	local send = sends[pinfo.number] or flows[packet.flow] and { frames = {} }
	if not send then
		return false
	elseif send.last == pinfo.number then
		dissect_last(send, pinfo, root)
	else
		dissect_part(send, packet.payload, pinfo, root)
	end
	return true
end

local function roce_payload(_, pinfo, root)
	if not packet then
		return false
	end
	packet.seen = true
	return dissect_packet(pinfo, root)
end

-- Wireshark first asks the heuristic dissector that took the last message. This may be
-- the one for version 1. So dissect a packet that this dissector was not asked about.
function roce.dissector(tvb, pinfo, root)
	packet = read_bth(tvb, pinfo)
	pcall(infiniband.call, infiniband, tvb, pinfo, root)
	if packet and not packet.seen then
		dissect_packet(pinfo, root)
	end
	packet = nil
end

-- iWARP: Wireshark's dissector puts Sends together. A first pass without fields does
-- not tell Sends from other data. Then take only what looks like version 2.

local rdmap_opcode = Field.new("iwarp_rdma.opcode")
local RDMAP_SENDS = { [3] = true, [4] = true, [5] = true, [6] = true }

local function iwarp_payload(tvb, pinfo, root)
	local opcodes = { rdmap_opcode() }	-- of the frame's segments so far
	local opcode = opcodes[#opcodes]
	local flow = string.format("%s:%d %s:%d", pinfo.src, pinfo.src_port,
				   pinfo.dst, pinfo.dst_port)

	if tvb:len() == 0 or opcode and not RDMAP_SENDS[opcode.value] or
	   not opcode and not looks_like_ours(tvb) then
		return false
	end
	return dissect_if_ours(flow, tvb, pinfo, root)
end

function rpcrdma2.init()
	flows, open, sends = {}, {}, {}
end

ports:add(ROCE_PORT, roce)
rpcrdma2:register_heuristic("infiniband.payload", roce_payload)
rpcrdma2:register_heuristic("iwarp_ddp_rdmap", iwarp_payload)
