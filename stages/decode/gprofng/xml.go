package gprofng

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// tag is a tag of a log or map file, with the text after it.
type tag struct {
	name   string
	attrs  []attribute
	closes bool   // the tag is `</name>`
	text   string // up to the next tag, entities replaced
	offset int64  // in the file
	// ignored says that the tag is not used, and that this was reported or counted.
	ignored bool
}

type attribute struct {
	name, value string
	read        bool // get was called for this attribute
}

// get returns an attribute's value, empty if it is missing.
func (t *tag) get(name string) string {
	for i := range t.attrs {
		if a := &t.attrs[i]; a.name == name {
			a.read = true
			return a.value
		}
	}
	return ""
}

// xmlReader reads the sequence of elements that the collector calls XML (gprofng-experiment 2.1).
// After a syntax error it continues at the next tag, so that one bad line costs one element. It has
// only a part of the file in memory.
type xmlReader struct {
	text   *textReader
	data   []byte // the current part of text
	pos    int
	open   []string
	failed bool
	errors int
	line   lineCounter
	report func(offset int64, message string)
}

// lineCounter caches the line number of the last position, and the offset at which that line
// starts.
type lineCounter struct{ line, start, pos int }

func (l *lineCounter) advance(data []byte, pos int) {
	for l.pos < pos {
		n := bytes.IndexByte(data[l.pos:pos], '\n')
		if n < 0 {
			break
		}
		l.pos += n + 1
		l.line, l.start = l.line+1, l.pos
	}
	l.pos = max(l.pos, pos)
}

// Limits of a file; real logs nest 4 deep, and have 8 attributes.
const (
	maxOpen       = 64
	maxAttributes = 64
	// maxElement is the maximum size of a tag and the text after it, such as a command line.
	maxElement = 4 << 20
	// maxErrors is how many syntax errors a file may have before the rest is ignored.
	maxErrors = 1000
)

func newXMLReader(file io.Reader, report func(offset int64, message string)) *xmlReader {
	return &xmlReader{text: &textReader{file: file}, report: report}
}

// fill reads on, so that an element that starts at the current position is complete in data.
func (x *xmlReader) fill() {
	if len(x.data)-x.pos >= maxElement || x.text.ended {
		return
	}
	x.line.advance(x.data, x.pos)
	x.line.pos, x.line.start = x.line.pos-x.pos, x.line.start-x.pos
	x.data, x.pos = x.text.more(x.pos, 2*maxElement), 0
}

func (x *xmlReader) offset(pos int) int64 { return x.text.offset(pos) }

// next returns the next tag; false at the end.
func (x *xmlReader) next() (tag, bool) {
	for {
		x.fill()
		x.skipTo('<')
		x.fill()
		switch {
		case x.pos < len(x.data):
		case !x.text.ended:
			continue
		default:
			x.finish()
			return tag{}, false
		}
		if x.errors > maxErrors {
			x.fail("it has too many errors: the rest is not read")
			return tag{}, false
		}
		t, err := x.tag()
		if err != nil {
			x.fail(err.Error())
			continue
		}
		if t.name == "" { // a comment
			continue
		}
		t.text = x.textAfter()
		return t, true
	}
}

// fail reports a syntax error at the current position. The search for the next tag starts there.
func (x *xmlReader) fail(message string) {
	x.failed = true
	x.errors++
	x.line.advance(x.data, x.pos)
	x.report(x.offset(x.pos), fmt.Sprintf("XML syntax error at line %d, column %d: %s", x.line.line+1, x.pos-x.line.start+1, message))
}

func (x *xmlReader) finish() {
	if len(x.open) > 0 && !x.failed {
		x.fail("the file ends inside the element " + x.open[len(x.open)-1])
	}
	x.open = nil
}

func (x *xmlReader) skipTo(c byte) {
	n := bytes.IndexByte(x.data[x.pos:], c)
	if n < 0 {
		n = len(x.data) - x.pos
	}
	x.pos += n
}

// tag reads a tag or comment from `<` on.
func (x *xmlReader) tag() (t tag, err error) {
	t.offset = x.offset(x.pos)
	for _, skip := range [][2]string{{"<!--", "-->"}, {"<?", "?>"}} {
		if bytes.HasPrefix(x.data[x.pos:], []byte(skip[0])) {
			return tag{}, x.comment(skip[1])
		}
	}
	x.pos++
	if x.peek() == '/' {
		x.pos++
		t.closes = true
	}
	if t.name = x.name(); t.name == "" {
		return tag{}, fmt.Errorf("a name is expected")
	}
	for {
		x.space()
		switch x.peek() {
		case '>':
			x.pos++
			return t, x.nest(&t)
		case '/':
			x.pos++
			if x.peek() != '>' {
				return tag{}, fmt.Errorf("`>` is expected")
			}
			x.pos++
			return t, nil
		}
		a, err := x.attribute()
		if err != nil {
			return tag{}, fmt.Errorf("in the element %s: %w", t.name, err)
		}
		if len(t.attrs) == maxAttributes {
			return tag{}, fmt.Errorf("the element %s has more than %d attributes", t.name, maxAttributes)
		}
		t.attrs = append(t.attrs, a)
	}
}

func (x *xmlReader) comment(end string) error {
	n := bytes.Index(x.data[x.pos:], []byte(end))
	if n < 0 {
		x.pos = len(x.data)
		return fmt.Errorf("the comment does not end")
	}
	x.pos += n + len(end)
	return nil
}

// nest tracks the open elements. After an error, it does not report further mismatches: a tag may
// be missing.
func (x *xmlReader) nest(t *tag) error {
	if !t.closes {
		if len(x.open) == maxOpen {
			return fmt.Errorf("elements nest deeper than %d", maxOpen)
		}
		x.open = append(x.open, t.name)
		return nil
	}
	for i := len(x.open) - 1; i >= 0; i-- {
		if x.open[i] == t.name {
			if last := len(x.open) - 1; i < last && !x.failed {
				x.fail("the element " + x.open[last] + " is not closed")
			}
			x.open = x.open[:i]
			return nil
		}
	}
	if !x.failed {
		x.fail("the element " + t.name + " is closed but not open")
	}
	return nil
}

func (x *xmlReader) attribute() (attribute, error) {
	a := attribute{name: x.name()}
	if a.name == "" {
		return a, fmt.Errorf("an attribute is expected")
	}
	x.space()
	if x.peek() != '=' {
		return a, fmt.Errorf("`=` is expected after %s", a.name)
	}
	x.pos++
	x.space()
	quote := x.peek()
	if quote != '"' && quote != '\'' {
		return a, fmt.Errorf("a quote is expected after %s=", a.name)
	}
	x.pos++
	value := x.data[x.pos:]
	n := bytes.IndexByte(value, quote)
	ends := n >= 0
	if ends {
		value = value[:n]
	}
	// If a line inside the value starts with `<`, the closing quote is missing.
	if cut := bytes.Index(value, []byte("\n<")); cut >= 0 || !ends {
		if cut < 0 {
			cut = len(value)
		}
		x.pos += cut
		return a, fmt.Errorf("the value of %s does not end", a.name)
	}
	x.pos += n + 1
	a.value = plainText(value)
	return a, nil
}

// textAfter returns the text up to the next tag. A `<` that does not start a tag is text.
func (x *xmlReader) textAfter() string {
	start := x.pos
	for {
		x.skipTo('<')
		if x.pos >= len(x.data) && !x.text.ended {
			x.fail(fmt.Sprintf("an element with its text has more than %d bytes", maxElement))
			return ""
		}
		if x.pos+1 >= len(x.data) || isNameByte(x.data[x.pos+1]) || strings.IndexByte("/!?", x.data[x.pos+1]) >= 0 {
			return plainText(x.data[start:x.pos])
		}
		x.pos++
	}
}

func (x *xmlReader) peek() byte {
	if x.pos < len(x.data) {
		return x.data[x.pos]
	}
	return 0
}

func (x *xmlReader) space() {
	for x.pos < len(x.data) && strings.IndexByte(" \t\r\n", x.data[x.pos]) >= 0 {
		x.pos++
	}
}

func (x *xmlReader) name() string {
	start := x.pos
	for x.pos < len(x.data) && isNameByte(x.data[x.pos]) {
		x.pos++
	}
	return string(x.data[start:x.pos])
}

func isNameByte(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || isDigit(c) || c == '_' || c == '-' || c == '.' || c == ':'
}
