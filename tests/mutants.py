# SPDX-License-Identifier: GPL-2.0
"""
Make mutants of a C source: copies with one mistake each.

read() gives all mutants of a file, in the order of the source. An operator is a function
that takes a Source and yields edits; OPERATORS lists them all. Operators work on tokens, so
an edit may not be valid C. The compiler finds such edits, and they do not count.
"""

import re
from collections import Counter, namedtuple

Token = namedtuple("Token", "text start end kind")
# Replace source[start:end] by text
Edit = namedtuple("Edit", "start end text")

TOKEN = re.compile(r"""
    (?P<space>\s+|/\*.*?\*/|//[^\n]*) |
    (?P<pp>\#(?:\\\n|[^\n])*) |
    (?P<id>[A-Za-z_]\w*) |
    (?P<num>\d\w*) |
    (?P<str>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*') |
    (?P<op>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|[-+*/%&|^<>=!]=|&&|\|\||.)
""", re.X | re.S)
CONSTANT = re.compile(r"(\#\s*define\s+\w+[ \t]+)(.*)", re.S)

TYPES = set("""const static struct enum union unsigned signed int long short char void bool
    size_t ssize_t u8 u16 u32 u64 s32 s64 __be32 __be64 ktime_t dma_addr_t gfp_t
    DEFINE_WAIT LIST_HEAD""".split())
HEADERS = {"if", "while", "for", "switch"}
NOT_OPERANDS = {"return", "case", "else", "do", "goto", "sizeof"}

SWAPS = {
    "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"],
    "==": ["!="], "!=": ["=="], "&&": ["||"], "||": ["&&"],
    "/": ["*"], "%": ["/"], "<<": [">>"], ">>": ["<<"], "|": ["&"], "^": ["|"],
    "+=": ["-=", "="], "-=": ["+=", "="], "|=": ["&=", "="], "&=": ["|=", "="],
    "++": ["--"], "--": ["++"], "!": [""], "~": [""],
    "true": ["false"], "false": ["true"],
}
BINARY_SWAPS = {"+": ["-"], "-": ["+"], "*": ["/"], "&": ["|"]}
# Names that are easily confused
TWINS = ["vers_low vers_high", "reads writes", "nreads nwrites", "max_chunks max_segments",
         "done rejected", "rejected pending", "send_size recv_size", "position length",
         "first nsegs", "RPCRDMA2_MSG RPCRDMA2_NOMSG"]


def name_in(head):
    """The name that is defined: the last one before its arguments, its size or its value"""
    stop = min(head.index(x) if x in head else len(head) for x in ("(", "[", "="))
    return next((x for x in reversed(head[:stop]) if x.isidentifier()), "")


class Source:
    """A file's text and tokens, and where its functions and brackets are."""

    def __init__(self, text):
        self.text = text
        self.tokens = []
        for m in TOKEN.finditer(text):
            if m.lastgroup == "pp":
                self._constant(m)
            elif m.lastgroup != "space":
                self.tokens.append(Token(m.group(), m.start(), m.end(), m.lastgroup))
        self._brackets()
        self._functions()

    def _constant(self, m):
        """The value that a line defines is code, too."""
        define = CONSTANT.match(m.group())
        if not define or define.group(2).startswith("\\"):
            return
        at = m.start() + len(define.group(1))
        # The value is a statement of its own.
        self.tokens.append(Token(";", at, at, "op"))
        for t in TOKEN.finditer(define.group(2)):
            if t.lastgroup != "space":
                self.tokens.append(Token(t.group(), at + t.start(), at + t.end(), t.lastgroup))
        self.tokens.append(Token(";", m.end(), m.end(), "op"))

    def _brackets(self):
        """partner[i]: the index of the matching bracket; inside[i]: the innermost bracket's"""
        self.partner, self.inside, stack = {}, [], []
        for i, t in enumerate(self.tokens):
            if t.text in (")", "]", "}") and stack:
                self.partner[i] = stack.pop()
                self.partner[self.partner[i]] = i
            self.inside.append(stack[-1] if stack else None)
            if t.text in ("(", "[", "{"):
                stack.append(i)

    def _functions(self):
        """where[i]: the function or variable of a token; body: tokens of functions"""
        self.where, self.body, self.ends = [""] * len(self.tokens), set(), set()
        head, i = [], 0
        while i < len(self.tokens):
            text = self.tokens[i].text
            if text == "{":
                end = self.partner[i]
                function = "(" in head and "=" not in head
                for j in range(i, end + 1):
                    self.where[j] = name_in(head)
                if function:
                    self.body.update(range(i, end + 1))
                    self.ends.add(end)
                i = end
            head = [] if text in ("{", ";") else head + [text]
            i += 1

    def span(self, first, last, text):
        """The edit that replaces tokens @first to @last."""
        return Edit(self.tokens[first].start, self.tokens[last].end, text)

    def code(self, first, last):
        return self.text[self.tokens[first].start:self.tokens[last].end]

    def is_binary(self, i):
        """Does the operator have an operand on its left?"""
        t = self.tokens[i - 1]
        return (t.kind in ("id", "num") and t.text not in NOT_OPERANDS | TYPES or
                t.text in (")", "]"))

    def reach(self, i, step, stops):
        """The last token of the operand that begins next to @i, in the direction of @step"""
        closing = (")", "]", "}") if step > 0 else ("(", "[", "{")
        opening = ("(", "[", "{") if step > 0 else (")", "]", "}")
        j = i + step
        while True:
            t = self.tokens[j].text
            if t in closing or t in stops or t in (";", ",", "return", "="):
                return j - step
            j = self.partner[j] + step if t in opening else j + step


def swapped_operators(s):
    for i, t in enumerate(s.tokens):
        swaps = SWAPS.get(t.text, [])
        if t.text in BINARY_SWAPS and s.is_binary(i):
            swaps = BINARY_SWAPS[t.text]
        for text in swaps:
            yield s.span(i, i, text)


def changed_constants(s):
    for i, t in enumerate(s.tokens):
        if t.kind == "num":
            value = re.sub("[uUlL]+$", "", t.text)
            suffix = t.text[len(value):]
            form = hex if value.startswith("0x") else str
            value = int(value, 8 if value.isdigit() and value[0] == "0" else 0)
            yield s.span(i, i, form(value + 1) + suffix)
            if value:
                yield s.span(i, i, form(value - 1) + suffix)
        elif re.fullmatch(r"[A-Z][A-Z0-9_]{2,}", t.text) and t.text not in ("NULL", "ON"):
            following = s.tokens[i + 1].text
            if following not in ("(", "=") and s.tokens[i - 1].text not in ("-", "["):
                yield s.span(i, i, f"({t.text} + 1)")
        elif t.kind == "str":
            yield s.span(i, i, '"mutant"')
            yield s.span(i, i, '""')


def conditions(s):
    """Each as a whole: inverted, always true, never true."""
    for i, t in enumerate(s.tokens):
        first = last = None
        if t.text in ("if", "while") and s.tokens[i + 1].text == "(":
            first, last = i + 2, s.partner[i + 1] - 1
        elif t.text == "for" and s.tokens[i + 1].text == "(":
            semicolons = [j for j in range(i + 2, s.partner[i + 1])
                          if s.tokens[j].text == ";" and s.inside[j] == i + 1]
            if len(semicolons) == 2:
                first, last = semicolons[0] + 1, semicolons[1] - 1
        elif t.text == "?":
            first, last = s.reach(i, -1, ("?", ":")), i - 1
        if first is None or first > last:
            continue
        # swapped_operators() inverts a single comparison, or a single "!".
        if not 1 == sum(s.tokens[j].text in ("!", "==", "!=", "&&", "||")
                        for j in range(first, last + 1)):
            yield s.span(first, last, f"!({s.code(first, last)})")
        yield s.span(first, last, "0")
        if t.text in ("if", "?") and s.tokens[i + 1].text != ":":
            yield s.span(first, last, "1")


def dropped_operands(s):
    """a && b becomes a, and b; the same for ||"""
    for i, t in enumerate(s.tokens):
        stops = {"||": ("||", "?", ":"), "&&": ("&&", "||", "?", ":")}.get(t.text)
        if not stops:
            continue
        yield s.span(s.reach(i, -1, stops), i, "")
        yield s.span(i, s.reach(i, 1, stops), "")


def deleted_statements(s):
    for i in sorted(s.body):
        if s.tokens[i].text != ";" or s.tokens[s.inside[i] or 0].text == "(":
            continue
        j = i - 1
        while s.tokens[j].text not in (";", "{", "}", "else", "do", ":"):
            if s.tokens[j].text == ")" and s.tokens[s.partner[j] - 1].text in HEADERS:
                break
            j = s.partner[j] - 1 if s.tokens[j].text in (")", "]") else j - 1
        first = j + 1
        if s.tokens[j].text == ":":     # of a label, or of an expression
            k = j
            while s.tokens[k].text not in (";", "{", "}", "?", "case", "default"):
                k -= 1
            if s.tokens[k].text == "?":
                continue
        text = s.tokens[first].text
        if first >= i or text in TYPES or s.tokens[first + 1].kind == "id" and text != "return" \
                and text != "goto":
            continue
        if text == "return" and i + 1 in s.ends:
            continue
        yield s.span(first, i, ";")


def deleted_cases(s):
    for i, t in enumerate(s.tokens):
        if t.text == "case":
            yield s.span(i, next(j for j in range(i, i + 9) if s.tokens[j].text == ":"), "")


def deleted_initializers(s):
    """Elements that have a name, and steps of the handshake"""
    for i, t in enumerate(s.tokens):
        if i in s.body or not s.where[i] or s.inside[i] is None:
            continue
        before = s.tokens[i - 1].text
        if before in ("{", ",") and t.text in (".", "ON"):
            end = s.reach(i - 1, 1, ())
            yield s.span(i, end + (s.tokens[end + 1].text == ","), "")


def returned_values(s):
    for i, t in enumerate(s.tokens):
        if t.text != "return" or s.tokens[i + 1].text == ";":
            continue
        end = s.reach(i, 1, ())
        while s.tokens[end + 1].text != ";":    # a comma
            end = s.reach(end + 1, 1, ())
        value = s.code(i + 1, end)
        if value in ("0", "NULL", "false", "true"):
            texts = {"0": ["1", "-EIO"], "NULL": [], "false": ["true"], "true": ["false"]}[value]
        elif re.fullmatch(r"-E\w+", value):
            texts = ["0", "-EIO"]
        else:
            texts = ["0", "1"]
        for text in texts:
            yield s.span(i + 1, end, text)


def swapped_arguments(s):
    for i, t in enumerate(s.tokens):
        if t.text != "(" or s.tokens[i - 1].kind != "id" or i not in s.body or \
                s.tokens[i - 1].text in HEADERS | NOT_OPERANDS:
            continue
        commas = [j for j in range(i, s.partner[i])
                  if s.tokens[j].text == "," and s.inside[j] == i]
        ends = [i] + commas + [s.partner[i]]
        for a, b, c in zip(ends, ends[1:], ends[2:]):
            yield s.span(a + 1, c - 1, f"{s.code(b + 1, c - 1)}, {s.code(a + 1, b - 1)}")


def twins(s):
    for i, t in enumerate(s.tokens):
        for pair in TWINS:
            one, other = pair.split()
            if t.text in (one, other):
                yield s.span(i, i, other if t.text == one else one)


def next_states(s):
    """Another action or state, in a table: NEXT(STATE), GO(ACTION, STATE), ON(EVENT, ACTION, STATE)"""
    for macro, argument in (("NEXT", 2), ("GO", 2), ("GO", 4), ("ON", 4), ("ON", 6)):
        places = [i + argument for i, t in enumerate(s.tokens)
                  if t.text == macro and s.tokens[i + 1].text == "(" and s.where[i] != macro]
        names = sorted({s.tokens[at].text for at in places})
        for at in places:
            yield s.span(at, at, names[(names.index(s.tokens[at].text) + 1) % len(names)])


OPERATORS = [swapped_operators, changed_constants, conditions, dropped_operands,
             deleted_statements, deleted_cases, deleted_initializers, returned_values,
             swapped_arguments, twins, next_states]

# key: file, function, and the changed lines, with [-old code-]{+new code+}
Mutant = namedtuple("Mutant", "key operator line edit")


def squeeze(text):
    return re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", "", text, flags=re.S)).strip()


def key_of(s, file, function, edit):
    old = s.text[edit.start:edit.end]
    start = s.text.rfind("\n", 0, edit.start) + 1
    end = s.text.find("\n", edit.end)
    shown = ("[-" + old + "-]" if old else "") + ("{+" + edit.text + "+}" if edit.text else "")
    line = squeeze(s.text[start:edit.start] + shown + s.text[edit.end:end])
    return f"{file} {function or '-'}: {line}"


def read(path, name):
    """Return: the text of the file @path, and all its mutants. Their keys begin with @name."""
    with open(path) as f:
        s = Source(f.read())
    found = {}
    for operator in OPERATORS:
        for edit in operator(s):
            if s.text[edit.start:edit.end] != edit.text:
                found.setdefault(edit, operator.__name__)
    starts = {t.start: w for t, w in zip(s.tokens, s.where)}
    mutants, count = [], Counter()
    for edit in sorted(found):
        key = key_of(s, name, starts[edit.start], edit)
        count[key] += 1
        if count[key] > 1:
            key += f" #{count[key]}"
        mutants.append(Mutant(key, found[edit], s.text.count("\n", 0, edit.start) + 1, edit))
    return s.text, mutants


def apply(text, edit):
    return text[:edit.start] + edit.text + text[edit.end:]
