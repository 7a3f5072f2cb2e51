package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

var xmlFiles = []string{"recording.er/log.xml", "recording.er/map.xml", "recording.er/_*/log.xml", "recording.er/_*/map.xml"}

// textMutations damage text files: the logs of gprofng, and lists of symbols.
var textMutations = []mutation{
	{"line-dropped", onLines(dropLine)},
	{"line-doubled", onLines(doubleLine)},
	{"line-swapped", onLines(swapLines)},
	{"line-many", onLines(manyLines)},
	{"line-inserted", onLines(insertLine)},
	{"text-cut", onLines(cutText)},
	{"text-byte", onLines(textByte)},
	{"attribute-value", onLines(attributeValue)},
	{"attribute-dropped", onLines(dropAttribute)},
}

// textFile is a text file that is being damaged. gprofng fills logs up to a full block with NULs;
// these are not in lines.
type textFile struct {
	name  string
	lines [][]byte // including their line ends
}

func onLines(do func(*damage, *textFile) bool) func(*damage) bool {
	return func(d *damage) bool {
		name, data := d.read(append(xmlFiles, d.rec.base.texts...)...)
		padded := bytes.ContainsRune(data, 0)
		text := bytes.ReplaceAll(data, []byte{0}, nil)
		if len(text) == 0 || bytes.HasPrefix(data, []byte("DTiJ")) {
			return false
		}
		f := &textFile{name, bytes.SplitAfter(text, []byte("\n"))}
		if !do(d, f) {
			return false
		}
		out := bytes.Join(f.lines, nil)
		if padded {
			out = append(out, make([]byte, (block-len(out)%block)%block)...)
		}
		d.write(name, out)
		return true
	}
}

func (f *textFile) pick(d *damage) int { return d.IntN(len(f.lines)) }

func (f *textFile) show(at int) string {
	return strings.TrimSpace(string(f.lines[at][:min(len(f.lines[at]), 80)]))
}

// lineCase returns the key in truths for a missing or changed attribute of a line in a log.
func (f *textFile) lineCase(at int, attribute string) string {
	element := regexp.MustCompile(`<(\w+)`).FindSubmatch(f.lines[at])
	if element == nil || strings.HasSuffix(f.name, "map.xml") {
		return ""
	}
	return fmt.Sprintf("log %s.%s", element[1], attribute)
}

var processID = []byte("<process pid=")

func dropLine(d *damage, f *textFile) bool {
	at := f.pick(d)
	kind := ""
	if bytes.Contains(f.lines[at], processID) {
		kind = "log process.pid"
	}
	d.did(kind, 0, "%s: line %d is taken out: %s", f.name, at+1, f.show(at))
	f.lines = append(f.lines[:at:at], f.lines[at+1:]...)
	return true
}

func doubleLine(d *damage, f *textFile) bool {
	from, at := f.pick(d), f.pick(d)
	f.insert(at, f.lines[from])
	return d.did("", 0, "%s: line %d stands at %d, too: %s", f.name, from+1, at+1, f.show(at))
}

func (f *textFile) insert(at int, lines ...[]byte) {
	f.lines = append(f.lines[:at:at], append(lines, f.lines[at:]...)...)
}

func swapLines(d *damage, f *textFile) bool {
	a, b := f.pick(d), f.pick(d)
	if bytes.Equal(f.lines[a], f.lines[b]) {
		return false
	}
	f.lines[a], f.lines[b] = f.lines[b], f.lines[a]
	return d.did("", 0, "%s: lines %d and %d are swapped: %s; %s", f.name, a+1, b+1, f.show(a), f.show(b))
}

// manyLines repeats a line many times.
func manyLines(d *damage, f *textFile) bool {
	at, n := f.pick(d), pick(d, []int{1000, 100000})
	one := bytes.Clone(f.lines[at])
	f.lines[at] = bytes.Repeat(one, n)
	return d.did("", 0, "%s: line %d is there %d times: %s", f.name, at+1, n, f.show(at))
}

var strangeLines = []string{
	"<strange attribute=\"1\"/>\n",
	strings.Repeat("<a>", 100000) + "\n",
	"<event kind=\"map\" object=\"segment\" tstamp=\"0.1\" vaddr=\"0x0\" size=\"18446744073709551615\" pagesz=\"4096\" foffset=\"+0x0\" modes=\"0x005\" chksum=\"0x0\" name=\"/proc/self/mem\"/>\n",
	"<event kind=\"map\" object=\"segment\" tstamp=\"-5.9999999999\" vaddr=\"0xffffffffffffffff\" size=\"4096\" foffset=\"+0xfffffffffffffff0\" modes=\"5\" chksum=\"0x0\" name=\"../../../../etc/passwd\"/>\n",
	"<event kind=\"cwarn\" id=\"99999999999999999999\">\x1b[2J\x1b]0;owned\a</event>\n",
	"<event kind=\"comment\" text=\"" + strings.Repeat("x", 1<<20) + "\"/>\n",
	"<!-- never ends\n",
	"<![CDATA[ x ]]>\n",
	"\x00\x01\xff\xfe\n",
	"&#0;&#x110000;&unknown;\n",
}

func insertLine(d *damage, f *textFile) bool {
	at, line := f.pick(d), pick(d, strangeLines)
	f.insert(at, []byte(line))
	return d.did("", 0, "%s: there is a strange line %d: %.60q", f.name, at+1, line)
}

func cutText(d *damage, f *textFile) bool {
	text := bytes.Join(f.lines, nil)
	at := d.IntN(len(text))
	f.lines = [][]byte{text[:at]}
	return d.did("", 0, "%s: the text ends at %d of %d", f.name, at, len(text))
}

var attribute = regexp.MustCompile(`(\w+)="([^"]*)"`)

func textByte(d *damage, f *textFile) bool {
	line := f.pick(d)
	if len(f.lines[line]) == 0 {
		return false
	}
	at, b := d.IntN(len(f.lines[line])), byte(d.Uint32())
	kind := ""
	for _, m := range attribute.FindAllSubmatchIndex(f.lines[line], -1) {
		if at >= m[2] && at < m[1] {
			kind = f.lineCase(line, string(f.lines[line][m[2]:m[3]]))
		}
	}
	before := f.show(line)
	f.lines[line] = bytes.Clone(f.lines[line])
	f.lines[line][at] = b
	return d.did(kind, 0, "%s: byte %d of line %d is %#x: %s", f.name, at, line+1, b, before)
}

var strangeValues = []string{"", "0", "-1", "1", "18446744073709551615", "99999999999999999999999", "0x", "0xffffffffffffffff", "1e400", "NaN", "1.5", ".", "-0.000000001", "4294967296.999999999",
	"9223372036854775807.999999999", "\x1b[31mred", "\xff\xfe", "%s%n", "/../../../../etc/passwd", "\u202eevil", "32"}

func (f *textFile) pickAttribute(d *damage) (line int, m []int, kind string) {
	line = f.pick(d)
	all := attribute.FindAllSubmatchIndex(f.lines[line], -1)
	if len(all) == 0 {
		return 0, nil, ""
	}
	m = pick(d, all)
	return line, m, f.lineCase(line, string(f.lines[line][m[2]:m[3]]))
}

func attributeValue(d *damage, f *textFile) bool {
	line, m, kind := f.pickAttribute(d)
	if m == nil {
		return false
	}
	v := pick(d, append(strangeValues, strings.Repeat("A", 100000)))
	d.did(kind, 0, "%s: %s of line %d is %.40q: %s", f.name, f.lines[line][m[2]:m[3]], line+1, v, f.show(line))
	f.lines[line] = fmt.Appendf(nil, "%s%s%s", f.lines[line][:m[4]], v, f.lines[line][m[5]:])
	return true
}

func dropAttribute(d *damage, f *textFile) bool {
	line, m, kind := f.pickAttribute(d)
	if m == nil {
		return false
	}
	if kind != "log process.pid" {
		kind = "" // a missing attribute must be reported, whichever it is
	}
	d.did(kind, 0, "%s: %s of line %d is taken out: %s", f.name, f.lines[line][m[2]:m[3]], line+1, f.show(line))
	f.lines[line] = fmt.Appendf(nil, "%s%s", f.lines[line][:m[0]], f.lines[line][m[1]:])
	return true
}
