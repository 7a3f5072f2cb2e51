package symtab

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// valueArgument reads a template's argument that is a value: a type and the value.
func (p *dParser) valueArgument() string {
	kind := p.peek(0)
	if kind == 'Q' {
		ahead := *p
		if target, ok := ahead.reference(); ok {
			kind = p.s[target]
		}
	}
	return p.value(p.typ(), kind)
}

// value reads a value of a type. kind is the first letter of the type.
func (p *dParser) value(typ string, kind byte) string {
	if !p.enter() {
		return ""
	}
	defer func() { p.depth-- }()
	if isDigit(p.peek(0)) {
		return p.integer(kind)
	}
	p.at++
	switch c := p.peek(-1); c {
	case 'n':
		return "null"
	case 'N':
		return "-" + p.integer(kind)
	case 'i':
		return p.integer(kind)
	case 'e':
		return p.real()
	case 'c':
		re := p.real()
		if !p.skip("c") {
			return p.fail()
		}
		return re + "+" + p.real() + "i"
	case 'a', 'w', 'd':
		return p.text(c)
	case 'A':
		return "[" + p.values(kind == 'H') + "]"
	case 'S':
		return typ + "(" + p.values(false) + ")"
	case 'f':
		if p.skip("_D") && p.isSymbolName() {
			return p.mangled()
		}
	}
	return p.fail()
}

// values reads the elements of an array or structure; with pairs set, the keys and values of an
// associative array.
func (p *dParser) values(pairs bool) string {
	var list []string
	for n := p.number(); n > 0 && !p.failed; n-- {
		text := p.value("", 0)
		if pairs {
			text += ":" + p.value("", 0)
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// integer reads a number; kind is the first letter of its type.
func (p *dParser) integer(kind byte) string {
	switch kind {
	case 'a', 'u', 'w':
		n := p.number()
		if kind == 'a' && ' ' <= n && n < 0x7f {
			return fmt.Sprintf("'%c'", n)
		}
		return fmt.Sprintf(map[byte]string{'a': `'\x%02x'`, 'u': `'\u%04x'`, 'w': `'\U%08x'`}[kind], n)
	case 'b':
		return strconv.FormatBool(p.number() != 0)
	}
	digits := p.prefix(digits)
	if digits == "" {
		return p.fail()
	}
	p.at += len(digits)
	return digits + map[byte]string{'h': "u", 't': "u", 'k': "u", 'l': "L", 'm': "uL"}[kind]
}

// real reads a floating-point number in hexadecimal.
func (p *dParser) real() string {
	if word := p.option("NAN", "NaN", "INF", "Inf", "NINF", "-Inf"); word != "" {
		return word
	}
	text := p.option("N", "-")
	mantissa := p.take(len(p.prefix("0123456789ABCDEF")))
	if mantissa == "" || !p.skip("P") {
		return p.fail()
	}
	text += "0x" + mantissa[:1] + "." + mantissa[1:] + "p" + p.option("N", "-")
	return text + p.take(len(p.prefix(digits)))
}

// text reads a string. kind is the letter of its type: a, w or d.
func (p *dParser) text(kind byte) string {
	n := p.number()
	if !p.skip("_") {
		return p.fail()
	}
	data, err := hex.DecodeString(p.take(2 * n))
	if err != nil {
		return p.fail()
	}
	var b strings.Builder
	for _, c := range data {
		switch i := strings.IndexByte("\t\n\r\f\v", c); {
		case i >= 0:
			b.WriteString(`\` + "tnrfv"[i:i+1])
		case ' ' <= c && c < 0x7f:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, `\x%02x`, c)
		}
	}
	return `"` + b.String() + `"` + strings.TrimPrefix(string(kind), "a")
}
