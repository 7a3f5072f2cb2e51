package main

import (
	"fmt"
	"strings"
)

// program returns the text of a program.
func (g *generator) program(structures, functions int) []byte {
	var list []*aggregate
	for range 2 {
		a := g.aggregate(false, 0, 4)
		a.name = g.id("in")
		g.plain = append(g.plain, a)
		g.declare(a)
	}
	for range structures {
		a := g.aggregate(false, 2, 8)
		a.name, a.packed = g.id("s"), g.IntN(4) == 0
		g.declare(a)
		list = append(list, a)
	}
	for i, a := range list {
		leaves := g.leaves(a, leaf{})
		if len(leaves) == 0 {
			continue
		}
		for made := 0; made < functions; {
			made += g.function(a, list[(i+1)%len(list)], leaves)
		}
	}
	head := "/* Made by cmd/members. */\n#include \"guard.h\"\n#include <stdbool.h>\n#include <string.h>\n" +
		"typedef float v4 __attribute__((vector_size(16)));\ntypedef unsigned u32;\ntypedef double real;\nstatic volatile int one = 1;\nstatic long values[8] __attribute__((aligned(16))) = {3};\n#define VALUE(t) (*(t *)values)\n#define use(x) do { __typeof__(x) used = (x); __asm__ volatile(\"\" : : \"r\"(&used) : \"memory\"); } while (0)\n\n"
	if g.cpp {
		head = strings.ReplaceAll(head, "<stdbool.h>", "<cstdint>")
	}
	return []byte(head + g.text.String() + "\nint main(void)\n{\n\tguard_start();\n" + g.calls.String() + "\ttell();\n\treturn 0;\n}\n")
}

func (g *generator) declare(a *aggregate) {
	attribute := ""
	if a.packed {
		attribute = " __attribute__((packed))"
	}
	fmt.Fprintf(&g.text, "struct%s %s {\n", attribute, a.name)
	a.declare(&g.text, "\t")
	g.text.WriteString("};\n")
}

// function adds a function that accesses a random leaf by a random op. If none fits, it adds none.
func (g *generator) function(s, x *aggregate, leaves []leaf) int {
	t := &target{leaf: leaves[g.IntN(len(leaves))], s: s, x: x}
	for range 8 {
		o := leaves[g.IntN(len(leaves))]
		if o.member != t.member && len(o.dims) == 0 && o.field.bits == 0 && o.field.typ == t.field.typ && !o.union && !t.union {
			t.other = o
		}
	}
	o := ops[g.IntN(len(ops))]
	t.n = o.name + "_" + g.id("")
	function, call, also := o.apply(g, t)
	if function == "" || s.packed && strings.Contains(function, "&p->") {
		return 0
	}
	lines := strings.SplitAfter(function, "\n")
	lines[len(lines)-1] = "APART " + lines[len(lines)-1]
	linkage := ""
	if g.cpp {
		linkage = "extern \"C\" "
	}
	for _, l := range lines {
		if strings.HasPrefix(l, "APART ") {
			l = linkage + l
		}
		g.text.WriteString(l)
	}
	g.text.WriteString("\n")
	descriptors := strings.Join(append([]string{t.whole()}, also...), " | ")
	call = strings.NewReplacer("P", "((struct "+s.name+" *)OBJECT)", "Q", "((struct "+s.name+" *)OTHER)").Replace(strings.NewReplacer("APART", "\x00").Replace(call))
	fmt.Fprintf(&g.calls, "\tguarded(\"%s\", \"%s\", %s);\n", t.n, descriptors, "{ "+call+"; }")
	return 1
}
