package symtab

import (
	"strconv"
	"strings"
)

// Bounds of D names. Because of back references, a short symbol can have a long name.
const (
	maxDSteps = 1 << 14
	maxDDepth = 200
	maxDBytes = 1 << 18 // total size of the names in a symbol
)

// demangleD demangles a symbol of D without its result type, as `c++filt -s dlang` does. See the
// chapter Name Mangling of the ABI (https://dlang.org/spec/abi.html#name_mangling).
func demangleD(s string) (string, bool) {
	if s == "_Dmain" {
		return "D main", true
	}
	if thunk, ok := strings.CutPrefix(s, "_DThn"); ok { // a thunk for an interface's method
		name, ok := demangleD("_D" + strings.TrimPrefix(strings.TrimLeft(thunk, "0123456789"), "_"))
		return "non-virtual thunk to " + name, ok
	}
	if !strings.HasPrefix(s, "_D") || len(s) > maxMangled {
		return "", false
	}
	p := dParser{s: s, at: 2, last: len(s)}
	name := p.mangled()
	return name, !p.failed && p.at == len(s)
}

// dParser parses a symbol. Its methods return the demangled text of the part that they parse.
type dParser struct {
	s            string
	at           int
	last         int // position of the back reference being followed; those in its target must precede it
	steps, depth int
	bytes        int // total length of the names so far
	failed       bool
}

// peek returns the byte that is n bytes ahead, 0 past the end of the symbol.
func (p *dParser) peek(n int) byte {
	if p.at+n < len(p.s) {
		return p.s[p.at+n]
	}
	return 0
}

func (p *dParser) skip(prefix string) bool {
	found := strings.HasPrefix(p.s[p.at:], prefix)
	if found {
		p.at += len(prefix)
	}
	return found
}

// option takes pairs of a mark and its text. If one of the marks follows, it skips the mark and
// returns its text (the first mark that matches is used); otherwise it returns "".
func (p *dParser) option(marks ...string) string {
	for i := 0; i < len(marks); i += 2 {
		if p.skip(marks[i]) {
			return marks[i+1]
		}
	}
	return ""
}

// fail ends parsing. All methods return empty text from then on.
func (p *dParser) fail() string {
	p.failed, p.at = true, len(p.s)
	return ""
}

// enter counts a parsing step and a level of nesting; false if there are too many.
func (p *dParser) enter() bool {
	p.steps++
	p.depth++
	if p.steps > maxDSteps || p.depth > maxDDepth {
		p.fail()
	}
	return !p.failed
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// prefix returns the longest prefix of the unparsed text that has only the given characters.
func (p *dParser) prefix(characters string) string {
	rest := p.s[p.at:]
	return rest[:len(rest)-len(strings.TrimLeft(rest, characters))]
}

const digits = "0123456789"

func (p *dParser) number() int {
	digits := p.prefix(digits)
	n, err := strconv.ParseInt(digits, 10, 31)
	if err != nil {
		p.fail()
		return 0
	}
	p.at += len(digits)
	return int(n)
}

// take returns the next n bytes.
func (p *dParser) take(n int) string {
	if n < 0 || n > len(p.s)-p.at {
		return p.fail()
	}
	if p.bytes += n; p.bytes > maxDBytes {
		return p.fail()
	}
	p.at += n
	return p.s[p.at-n : p.at]
}

// reference reads a back reference, `Q` and a number in base 26 whose last digit is a lower-case
// letter. It returns the position to which the reference leads; false if the reference is invalid.
func (p *dParser) reference() (target int, ok bool) {
	from := p.at
	n := 0
	for p.at++; p.at < len(p.s) && n < len(p.s); p.at++ {
		switch c := p.s[p.at]; {
		case 'A' <= c && c <= 'Z':
			n = n*26 + int(c-'A')
		case 'a' <= c && c <= 'z':
			n = n*26 + int(c-'a')
			p.at++
			return from - n, n > 0 && n <= from
		default:
			return 0, false
		}
	}
	return 0, false
}

// mangled reads what follows `_D`: a qualified name and its type. It returns the name.
func (p *dParser) mangled() string {
	name := p.qualified(true)
	if !p.skip("Z") && !p.failed {
		p.typ()
	}
	return name
}

// isSymbolName reports whether another part of a qualified name follows.
func (p *dParser) isSymbolName() bool {
	if isDigit(p.peek(0)) || p.peek(0) == '_' && p.peek(1) == '_' && (p.peek(2) == 'T' || p.peek(2) == 'U') {
		return true
	}
	if p.peek(0) != 'Q' {
		return false
	}
	ahead := *p
	target, ok := ahead.reference()
	return ok && isDigit(p.s[target])
}

func isDCall(c byte) bool { return c != 0 && strings.IndexByte("FUVWRY", c) >= 0 }

// qualified reads a qualified name. Functions in the returned name have their parameters. If suffixes
// is set, methods also have the qualifiers of their object, such as const.
func (p *dParser) qualified(suffixes bool) string {
	var b strings.Builder
	for n := 0; !p.failed && (n == 0 || p.isSymbolName()); n++ {
		if n > 0 {
			b.WriteByte('.')
		}
		for p.peek(0) == '0' { // unnamed
			p.at++
		}
		b.WriteString(p.identifier())
		if c := p.peek(0); c != 'M' && !isDCall(c) {
			continue
		}
		before := *p
		modifiers := ""
		if p.skip("M") {
			modifiers = p.modifiers()
		}
		_, _, parameters := p.function()
		if p.failed || p.at == len(p.s) { // this was the type of the whole symbol, not a part of its name
			steps, bytes := p.steps, p.bytes
			*p = before
			p.steps, p.bytes = steps, bytes
			break
		}
		b.WriteString(parameters)
		if suffixes {
			b.WriteString(modifiers)
		}
		if b.Len() > 1<<maxName {
			return p.fail()
		}
	}
	return b.String()
}

// identifier reads a name, or an instance of a template.
func (p *dParser) identifier() string {
	if !p.enter() {
		return ""
	}
	defer func() { p.depth-- }()
	switch {
	case p.peek(0) == 'Q':
		target, ok := p.reference()
		if !ok || !isDigit(p.s[target]) {
			return p.fail()
		}
		other := dParser{s: p.s, at: target, bytes: p.bytes}
		name := other.take(other.number())
		if p.bytes = other.bytes; other.failed {
			return p.fail()
		}
		return specialD(name)
	case p.peek(0) == '_':
		return p.template(-1)
	}
	n := p.number()
	rest := p.s[p.at:]
	if n >= 5 && (strings.HasPrefix(rest, "__T") || strings.HasPrefix(rest, "__U")) {
		return p.template(n)
	}
	name := p.take(n)
	if number, ok := strings.CutPrefix(name, "__S"); ok && number != "" && strings.Trim(number, "0123456789") == "" {
		return p.identifier() // the number distinguishes declarations of one name
	}
	return specialD(name)
}

// specialD returns the name in the source of a function that has a special name in symbols.
func specialD(name string) string {
	switch name {
	case "__ctor":
		return "this"
	case "__dtor":
		return "~this"
	}
	return name
}

// template reads an instance of a template. length is the length that precedes it in the symbol, -1
// if none does.
func (p *dParser) template(length int) string {
	from := p.at
	if p.at += 3; p.at > len(p.s) || !p.isSymbolName() && p.peek(0) != '0' {
		return p.fail()
	}
	name := p.identifier()
	arguments := p.arguments()
	if length >= 0 && p.at-from != length {
		return p.fail()
	}
	return name + "!(" + arguments + ")"
}

func (p *dParser) arguments() string {
	var list []string
	for !p.failed {
		if p.skip("Z") {
			return strings.Join(list, ", ")
		}
		p.skip("H") // a specialized parameter
		p.at++
		switch p.peek(-1) {
		case 'S':
			list = append(list, p.symbol())
		case 'T':
			list = append(list, p.typ())
		case 'V':
			list = append(list, p.valueArgument())
		case 'X':
			list = append(list, p.take(p.number()))
		default:
			return p.fail()
		}
	}
	return ""
}

// symbol reads a template's argument that is a symbol.
func (p *dParser) symbol() string {
	if p.skip("_D") {
		return p.mangled()
	}
	if p.peek(0) == 'Q' || p.peek(0) == '_' {
		return p.qualified(false)
	}
	// Before D 2.077, the length of this symbol preceded it. Its digits are directly followed by
	// those of the first length inside the symbol: try all ways to divide them.
	for n := min(len(p.prefix(digits)), 9); n > 0; n-- {
		length, err := strconv.Atoi(p.s[p.at : p.at+n])
		if err != nil || length > len(p.s)-p.at-n {
			continue
		}
		inside := dParser{s: p.s[:p.at+n+length], at: p.at + n, last: p.last, steps: p.steps, depth: p.depth, bytes: p.bytes}
		text := ""
		if inside.skip("_D") {
			text = inside.mangled()
		} else {
			text = inside.qualified(false)
		}
		p.steps, p.bytes = inside.steps, inside.bytes
		if !inside.failed && inside.at == len(inside.s) {
			p.at = inside.at
			return text
		}
	}
	return p.qualified(false)
}
