# SPDX-License-Identifier: GPL-2.0
"""Draw ratios with their spread, as an SVG for light and for dark pages."""

from xml.sax.saxutils import escape

ROW, LEFT, RIGHT, TOP, WIDTH = 26, 130, 20, 58, 760
STYLE = """
  text { font: 12px sans-serif; fill: #333 }
  .title { font-size: 14px; font-weight: bold }
  .grid { stroke: #999; stroke-width: 0.5; opacity: 0.5 }
  .one { stroke: #333; stroke-width: 1.5 }
  .s0 { stroke: #0072b2; fill: #0072b2 }
  .s1 { stroke: #d55e00; fill: #d55e00 }
  .s2 { stroke: #009e73; fill: #009e73 }
  .spread { stroke-width: 2; opacity: 0.6 }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd }
    .one { stroke: #ddd }
    .s0 { stroke: #56b4e9; fill: #56b4e9 }
    .s1 { stroke: #e69f00; fill: #e69f00 }
    .s2 { stroke: #2fc49a; fill: #2fc49a }
  }"""


class Plot:
    """A row for each name, with a mark for each series, and a line for its spread"""

    def __init__(self, title, rows):
        self.title, self.rows, self.parts = title, rows, []
        spread = [end for _, marks in rows
                  for _, *ends in marks.values() for end in ends]
        # The axis has steps of a quarter, and shows the values around 1 in any case.
        self.start = min(3, int(min(spread) * 4))
        self.end = max(6, int(max(spread) * 4) + 1)

    def x(self, value):
        share = (value * 4 - self.start) / (self.end - self.start)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def add(self, text):
        self.parts.append("  " + text)

    def text(self, x, y, text, kind="", anchor="start"):
        self.add(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
                 f'{kind and f""" class="{kind}" """}>{escape(text)}</text>')

    def line(self, start, end, kind):
        self.add(f'<line x1="{start[0]:.1f}" y1="{start[1]:.1f}" '
                 f'x2="{end[0]:.1f}" y2="{end[1]:.1f}" class="{kind}"/>')

    def legend(self, names):
        for i, name in enumerate(names):
            x = LEFT + 120 * i
            self.add(f'<circle cx="{x}" cy="36" r="4" class="s{i}"/>')
            self.text(x + 10, 40, name)

    def axis(self, bottom):
        for quarter in range(self.start, self.end + 1):
            value = quarter / 4
            kind = "one" if value == 1 else "grid"
            self.line((self.x(value), TOP - 8), (self.x(value), bottom), kind)
            self.text(self.x(value), bottom + 16, f"{value:g}", "", "middle")

    def marks(self, y, marks, names):
        for i, name in enumerate(names):
            if name not in marks:
                continue
            middle, least, most = marks[name]
            at = y + (i - (len(names) - 1) / 2) * 7
            self.line((self.x(least), at), (self.x(most), at), f"spread s{i}")
            self.add(f'<circle cx="{self.x(middle):.1f}" cy="{at:.1f}" r="3.5" '
                     f'class="s{i}"/>')

    def svg(self):
        names = list(dict.fromkeys(name for _, marks in self.rows
                                   for name in marks))
        bottom = TOP + ROW * len(self.rows)
        self.text(10, 18, self.title, "title")
        self.legend(names)
        self.axis(bottom)
        for i, (name, marks) in enumerate(self.rows):
            y = TOP + ROW * i + ROW / 2
            self.text(LEFT - 10, y + 4, name, "", "end")
            self.marks(y, marks, names)
        return "\n".join([
            '<?xml version="1.0" encoding="UTF-8"?>',
            "<!-- SPDX-License-Identifier: GPL-2.0 -->",
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
            f'height="{bottom + 28}" viewBox="0 0 {WIDTH} {bottom + 28}">',
            f"  <style>{STYLE}\n  </style>", *self.parts, "</svg>", ""])
