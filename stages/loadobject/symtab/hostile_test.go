package symtab

import (
	"strings"
	"testing"
)

// nested returns a name with n nested constructs.
func nested(head, open, middle, shut, tail string, n int) string {
	return head + strings.Repeat(open, n) + middle + strings.Repeat(shut, n) + tail
}

// Names that would overflow the stack, which ends the run, or keep the demangler busy for years
// stay mangled and are counted.
func TestHostileNames(t *testing.T) {
	for what, name := range map[string]string{
		"pointers without end":                  "_Z1f" + strings.Repeat("P", 2_000_000),
		"pointers":                              nested("_Z1f", "P", "i", "", "", 60_000),
		"casts, which are read twice":           nested("_ZN1aIiEcvT_I", "N1aIiEcvT_I", "i", "EE", "v", 30),
		"cast functions":                        nested("_Z", "N1acvT_I", "i", "EE", "v", 40),
		"template arguments":                    nested("_Z1f", "1aI", "i", "E", "", 10_000),
		"functions":                             nested("_Z1f", "PFv", "i", "E", "", 10_000),
		"expressions":                           nested("_Z1fIiEv1aIX", "ng", "T_", "", "EE", 20_000),
		"names in functions":                    nested("_Z", "Z", "1fv", "E1g", "", 10_000),
		"packs":                                 nested("_Z1fI", "J", "i", "E", "Evv", 20_000),
		"blocks":                                "___Z1f" + strings.Repeat("P", 1_000_000) + "_block_invoke",
		"constructors":                          "_GLOBAL__I__Z1f" + strings.Repeat("P", 1_000_000),
		"allocation tokens":                     "__alloc_token__Z1f" + strings.Repeat("P", 1_000_000),
		"pointers of Rust":                      nested("_RIC1a", "P", "a", "", "E", 60_000),
		"tuples of Rust":                        nested("_RIC1a", "T", "a", "E", "E", 20_000),
		"paths of Rust":                         nested("_R", "Nv", "C1a", "1b", "", 10_000),
		"suffixes":                              "_Z1f" + strings.Repeat("P", 1_000_000) + ".cold",
		"names of Studio":                       "_$p1A12._Z1f" + strings.Repeat("P", 1_000_000),
		"globalized":                            "$XAAA._Z1f" + strings.Repeat("P", 1_000_000),
		"a coroutine":                           "_Z1f" + strings.Repeat("P", 1_000_000) + ".resume",
		"words of optimization at link time":    "_Z1f" + strings.Repeat("P", 1_000_000) + strings.Repeat(".lto_priv.0", 100_000),
		"words of optimization and other names": strings.Repeat("f.lto_priv.0.", 300_000),
	} {
		n := newNamer(false)
		got, _ := n.name(name)
		if what != "words of optimization and other names" && len(n.skipped) != 1 {
			t.Errorf("%s: %d names left, %.40q of %d characters", what, len(n.skipped), got, len(got))
		}
		if n.steps < moreSteps-maxSteps {
			t.Errorf("%s: %d steps are left of %d", what, n.steps, moreSteps)
		}
	}
}

// Even if each name is within the bounds for a name, all together stay within those for an object.
func TestManyHostileNames(t *testing.T) {
	n := newNamer(false)
	for i := range 300 {
		n.name(nested("_ZN1aIiEcvT_I", "N1aIiEcvT_I", "i", "EE", "v", 22+i%4) + strings.Repeat("i", i))
	}
	if n.steps < 0 || len(n.skipped) != 300 {
		t.Errorf("%d steps left, %d names", n.steps, len(n.skipped))
	}
	if got, _ := n.name("_ZN1a1bEi"); got != "a::b(int)" {
		t.Errorf("afterwards a plain name is %q", got)
	}
	if notes := (Names{n}).Notes(); len(notes) != 1 || !strings.Contains(notes[0].Text, "300 symbol names are too long") {
		t.Errorf("notes %v", notes)
	}
}

// Long names of expression templates, which occur in real programs, are demangled.
func TestLongNames(t *testing.T) {
	types := strings.Repeat("N5boost6fusion6vectorIiEE", 1500)
	for what, name := range map[string]string{
		"nested": "_Z3sum" + strings.Repeat("N5Eigen13CwiseBinaryOpIdK", 400) + "N5Eigen6MatrixIdEE" + strings.Repeat("EE", 400),
		"flat":   "_ZN5boost6fusion4joinE" + types,
	} {
		n := newNamer(false)
		if got, _ := n.name(name); len(n.skipped) > 0 || strings.HasPrefix(got, "_Z") {
			t.Errorf("%s, %d characters: %.60q", what, len(name), got)
		}
	}
}

// Reading a list of functions nested in each other takes time in proportion to its length.
func TestNestedPerfMap(t *testing.T) {
	const n = 100_000
	var inward, outward []Function
	for i := range uint64(n) {
		inward = append(inward, Function{Offset: i, Size: 2*n - 2*i, Linkage: "f"})
		outward = append(outward, Function{Offset: n - i, Size: 2*i + 1, Linkage: "f"})
	}
	if got := removeOverlaps(inward); len(got) == 0 || got[0].Offset != 0 {
		t.Errorf("%d functions", len(got))
	}
	if got := removeOverlaps(outward); len(got) != 1 || got[0].Size != 2*n-1 {
		t.Errorf("%d functions, the first %+v", len(got), got[0])
	}
}

// A list is cut at maxListed functions, with a note.
func TestLongLists(t *testing.T) {
	defer func(n int) { maxListed = n }(maxListed)
	maxListed = 1000
	for what, table := range map[string]*Table{
		"generated code": ReadPerfMap([]byte(strings.Repeat("1 1 a\n", maxListed+1))).Finish(),
		"kernel":         ReadKernel([]byte(strings.Repeat("00000001 t a\n", maxListed+1))).Finish(),
	} {
		if len(table.Notes) != 1 || !table.Notes[0].Damage || table.Functions.Len() == 0 {
			t.Errorf("%s: %d functions, notes %v", what, table.Functions.Len(), table.Notes)
		}
	}
}

// Many labels without type and size do not make the code before them be decoded for each.
func TestManyLabels(t *testing.T) {
	r := reader{code: 100}
	before := []symbol{{name: "f"}, {name: "g"}}
	for range 1000 {
		r.isLabel(symbol{name: "x", binding: 1}, before, 0, nil)
	}
	if r.code >= 0 {
		t.Errorf("%d bytes are left to look at", r.code)
	}
}
