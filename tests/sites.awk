# SPDX-License-Identifier: GPL-2.0
#
# objdump -dr --no-show-raw-insn MODULE | sites.awk - print the places where the module calls
# functions that allocate memory, as "SECTION RETURN-ADDRESS FUNCTION CALLEE" lines
#
# With -v names=1, reads the output of nm -u, and prints the names of such functions.
#
# A function's name tells whether it allocates memory, directly or in a function that it calls
# (to create a QP, for example). The kernel of a user-mode guest is compiled for a large address
# space. Its code loads a function's address into a register before the call, and may move the
# address to another register.

# (The module does not call xprt_alloc_slot() and mempool_alloc_slab(), but passes pointers to
# them. kmalloc_caches is data.)
function allocates(name)
{
	if (name ~ /^(rpcrdma2_|__asan_|is_|__trace|xprt_alloc_slot|mempool_alloc_slab|kmalloc_caches)|unregister|dealloc|destroy|^free_/)
		return 0
	return name ~ /alloc|get_free_page|create|dup$|kasprintf|single_open/ ||
	       name ~ /^register_|svc_xprt_init|rdma_rw_ctx_init/ ||
	       name ~ /^rdma_(listen|bind_addr|resolve_|connect|accept)/
}

function found(address)
{
	if (allocates(callee))
		print section, address, function_, callee
	callee = ""
}

names {
	if (allocates($2))
		print $2
	next
}

/^Disassembly of section/ {
	section = $4
	sub(/:$/, "", section)
}

/^[0-9a-f]+ <.*>:$/ {
	function_ = $2
	gsub(/[<>:]/, "", function_)
	split("", symbol)
	next
}

# A relocation belongs to the movabs or the call before it.
/R_X86_64_/ {
	split($3, part, /[+-]/)
	if (/R_X86_64_64/ && loaded)
		symbol[loaded] = part[1]
	else if (/R_X86_64_(PLT32|PC32)/ && direct)
		callee = part[1]
	next
}

{
	loaded = direct = ""
	if (callee != "")
		found(substr($1, 1, length($1) - 1))
}

$2 == "movabs" {
	loaded = $NF
	sub(/.*,%/, "", loaded)
	symbol[loaded] = ""
}

$2 == "mov" && $3 ~ /^%r[a-z0-9]+,%r[a-z0-9]+$/ {
	split($3, operand, /[%,]+/)
	symbol[operand[3]] = symbol[operand[2]]
}

$2 == "call" {
	direct = 1
	if ($3 ~ /^\*%/)
		callee = symbol[substr($3, 3)]
}
