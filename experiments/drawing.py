"""What the pictures of experiments have in common: a sheet with the finding as its title, one accent, greys, and colours for dark pages.

An experiment's picture.py makes one from committed results. Needs Python 3 alone.
"""

import csv
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTH = 830
TITLE, LABEL, SMALL = 18, 16, 14

# As Theme in Sources/FleetReports/Plot.swift has them.
STYLE = """
text { font: 16px system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; fill: #1b1f24 }
.title { font-size: 18px; font-weight: 600 } .small { font-size: 14px } .muted { fill: #5c6570 } .strong { font-weight: 600 }
.halo { stroke: #ffffff; stroke-width: 4; paint-order: stroke } .paper { fill: #ffffff }
.grid { stroke: #e3e7eb } .axis { stroke: #5c6570 } .stem { stroke: #8b949e }
.accent { stroke: #0064a8 } .accent-fill { fill: #0064a8 } .other { stroke: #6e7781 } .other-fill { fill: #6e7781 }
.incident-fill { fill: #c0392b; fill-opacity: .2 } .incident-text { fill: #c0392b } .hollow { fill: #ffffff } polyline { fill: none }
@media (prefers-color-scheme: dark) {
text { fill: #e6e9ed } .muted { fill: #9aa5b1 } .halo { stroke: #14181d } .paper, .hollow { fill: #14181d } .grid { stroke: #2c333b }
.axis { stroke: #9aa5b1 } .accent { stroke: #58b3ff } .accent-fill { fill: #58b3ff } .other { stroke: #9aa3ad } .other-fill { fill: #9aa3ad }
.incident-fill { fill: #ff7a6b } .incident-text { fill: #ff7a6b }
}"""


def rows(path):
    with open(ROOT / path) as file:
        return list(csv.DictReader(file))


def escape(words):
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def width(words, size=SMALL):
    """About how wide a text is, in a wide font."""
    return sum(0.36 if letter in "ijl.,:;|' \u00a0" else 0.64 for letter in words) * size


def share(value, digits=0):
    """`33 %`; never 0 % of what is something."""
    if value == 0:
        return "0"
    text = f"{100 * value + 1e-9:.{digits}f}"
    return f"{text}\u00a0%" if float(text) else f"<\u00a0{10 ** -digits:g}\u00a0%"


def span(seconds):
    """`12 min 30 s`"""
    minutes, seconds = divmod(round(seconds), 60)
    return " ".join(text for text in [f"{minutes} min" if minutes else "", f"{seconds} s" if seconds or not minutes else ""] if text)


class Sheet:
    def __init__(self, title, subtitle, description=""):
        self.title, self.description, self.parts, self.y = title, description or " ".join(subtitle), [], 12
        for line in self.broken(title):
            self.y += 23
            self.text(16, self.y, line, "title")
        for line in subtitle:
            self.y += 20
            self.text(16, self.y, line, "small muted")

    @staticmethod
    def broken(title):
        lines = [""]
        for word in title.split(" "):
            if lines[-1] and width(f"{lines[-1]} {word}", TITLE * 1.08) > WIDTH - 32:
                lines.append(word)
            else:
                lines[-1] = f"{lines[-1]} {word}".strip()
        return lines

    def text(self, x, y, words, kind="small", anchor="start"):
        anchor = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}"{anchor}>{escape(words)}</text>')

    def line(self, x1, y1, x2, y2, kind="grid", more=""):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"{more}/>')

    def rect(self, x, y, wide, high, kind):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(wide, 0):.1f}" height="{max(high, 0):.1f}" class="{kind}"/>')

    def dot(self, x, y, kind, radius=5):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" class="{kind}"/>')

    def path(self, points, kind, stroke=2, dash=""):
        dash = f' stroke-dasharray="{dash}"' if dash else ""
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{places}" class="{kind}" stroke-width="{stroke}" stroke-linejoin="round"{dash}/>')

    def save(self, path, height):
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" height="{height:.0f}" '
                f'role="img" aria-labelledby="t d"><title id="t">{escape(self.title)}</title>'
                f'<desc id="d">{escape(self.description)}</desc><style>{STYLE}</style>\n<rect class="paper" width="100%" height="100%"/>\n')
        (ROOT / path).write_text(head + "\n".join(self.parts) + "\n</svg>\n", encoding="utf-8")


class Plot:
    """A rectangle of a sheet with its two axes."""

    def __init__(self, sheet, left, top, right, bottom, xs, ys):
        self.sheet, self.left, self.top, self.right, self.bottom, self.xs, self.ys = sheet, left, top, right, bottom, xs, ys

    def x(self, value):
        return self.left + (self.right - self.left) * (value - self.xs[0]) / (self.xs[1] - self.xs[0])

    def y(self, value):
        return self.bottom - (self.bottom - self.top) * (value - self.ys[0]) / (self.ys[1] - self.ys[0])

    def axes(self, xs, ys, x_words, y_words):
        """Ticks are pairs of a value and its label."""
        for value, label in ys:
            self.sheet.line(self.left, self.y(value), self.right, self.y(value))
            self.sheet.text(self.left - 8, self.y(value) + 5, label, "small muted", "end")
        for value, label in xs:
            self.sheet.line(self.x(value), self.bottom, self.x(value), self.bottom + 5, "axis")
            self.sheet.text(self.x(value), self.bottom + 21, label, "small muted", "middle")
        self.sheet.text(self.right, self.bottom + 42, x_words, "strong", "end")
        self.sheet.text(16, self.top - 14, y_words, "strong")


def bars(sheet, top, table, limit, left=200, right=120, pitch=28):
    """Horizontal bars: (name, value, what stands behind it, whether it has the accent). Returns where they end."""
    for number, (name, value, words, is_best) in enumerate(table):
        y = top + pitch * number
        sheet.text(left - 10, y + 16, name, "strong" if is_best else "", "end")
        wide = (WIDTH - left - right) * value / limit
        sheet.rect(left, y + 2, wide, pitch - 8, "accent-fill" if is_best else "other-fill")
        sheet.text(left + max(wide, 0) + 8, y + 16, words, "small halo")
    return top + pitch * len(table)


def numbers(text):
    return [float(number.replace(",", "")) for number in re.findall(r"-?\d[\d,]*\.?\d*", text)]
