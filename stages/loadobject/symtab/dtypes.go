package symtab

import (
	"strconv"
	"strings"
)

// basicD maps the one-letter types to their names.
var basicD = map[byte]string{
	'n': "typeof(null)", 'v': "void", 'g': "byte", 'h': "ubyte", 's': "short", 't': "ushort", 'i': "int", 'k': "uint", 'l': "long", 'm': "ulong",
	'f': "float", 'd': "double", 'e': "real", 'o': "ifloat", 'p': "idouble", 'j': "ireal", 'q': "cfloat", 'r': "cdouble", 'c': "creal",
	'b': "bool", 'a': "char", 'u': "wchar", 'w': "dchar",
}

var attributesD = map[byte]string{
	'a': "pure", 'b': "nothrow", 'c': "ref", 'd': "@property", 'e': "@trusted", 'f': "@safe", 'i': "@nogc", 'j': "return", 'l': "scope", 'm': "@live",
}

// callsD maps letters to the calling conventions of functions.
var callsD = map[byte]string{'F': "", 'U': "extern(C) ", 'W': "extern(Windows) ", 'V': "extern(Pascal) ", 'R': "extern(C++) ", 'Y': "extern(Objective-C) "}

func (p *dParser) typ() string {
	if !p.enter() {
		return ""
	}
	defer func() { p.depth-- }()
	if name := p.option("O", "shared", "x", "const", "y", "immutable", "Ng", "inout", "Nh", "__vector"); name != "" {
		return name + "(" + p.typ() + ")"
	}
	if name := p.option("Nn", "typeof(*null)", "zi", "cent", "zk", "ucent"); name != "" {
		return name
	}
	c := p.peek(0)
	if name, ok := basicD[c]; ok {
		p.at++
		return name
	}
	switch {
	case isDCall(c):
		return p.functionType() + "function"
	case c == 'Q':
		return p.typeReference(p.typ)
	}
	p.at++
	switch c {
	case 'A':
		return p.typ() + "[]"
	case 'G':
		n := p.number()
		return p.typ() + "[" + strconv.Itoa(n) + "]"
	case 'H':
		key := p.typ()
		return p.typ() + "[" + key + "]"
	case 'P':
		if isDCall(p.peek(0)) {
			return p.functionType() + "function"
		}
		return p.typ() + "*"
	case 'C', 'S', 'E', 'T', 'I':
		return p.qualified(false)
	case 'D':
		modifiers := p.modifiers()
		if p.peek(0) == 'Q' {
			return p.typeReference(p.functionType) + "delegate" + modifiers
		}
		return p.functionType() + "delegate" + modifiers
	case 'B':
		return p.tuple()
	}
	return p.fail()
}

// typeReference follows a back reference to a type. It reads the type there with read.
func (p *dParser) typeReference(read func() string) string {
	from := p.at
	target, ok := p.reference()
	if !ok || from >= p.last { // the reference is part of its target
		return p.fail()
	}
	after, last := p.at, p.last
	p.at, p.last = target, from
	text := read()
	if p.last = last; !p.failed {
		p.at = after
	}
	return text
}

func (p *dParser) tuple() string {
	n := p.number()
	var list []string
	for ; n > 0 && !p.failed; n-- {
		list = append(list, p.typ())
	}
	return "tuple(" + strings.Join(list, ", ") + ")"
}

// modifiers reads the qualifiers of a method's object.
func (p *dParser) modifiers() string {
	if text := p.option("O", " shared", "Ng", " inout"); text != "" {
		return text + p.modifiers()
	}
	return p.option("x", " const", "y", " immutable")
}

func (p *dParser) functionType() string {
	call, attributes, parameters := p.function()
	result := p.typ()
	return call + result + parameters + " " + attributes
}

// function reads the type of a function, without its result type.
func (p *dParser) function() (call, attributes, parameters string) {
	call, ok := callsD[p.peek(0)]
	if !ok {
		return "", "", p.fail()
	}
	p.at++
	for p.peek(0) == 'N' {
		name, ok := attributesD[p.peek(1)]
		if !ok { // it belongs to the first parameter
			break
		}
		p.at += 2
		attributes += name + " "
	}
	return call, attributes, "(" + p.parameters() + ")"
}

func (p *dParser) parameters() string {
	var list []string
	for !p.failed {
		switch {
		case p.skip("X"):
			return strings.Join(list, ", ") + "..."
		case p.skip("Y"):
			return strings.Join(append(list, "..."), ", ")
		case p.skip("Z"):
			return strings.Join(list, ", ")
		}
		storage := p.option("M", "scope ") + p.option("Nk", "return ")
		storage += p.option("IK", "in ref ", "I", "in ", "J", "out ", "K", "ref ", "L", "lazy ")
		list = append(list, storage+p.typ())
	}
	return ""
}
