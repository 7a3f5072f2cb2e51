package symbolize

import (
	"testing"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
)

// Compiled methods are distinguished from a virtual machine's other code, in all styles of names
// in lists of generated code.
func TestMethodNames(t *testing.T) {
	for name, want := range map[string]bool{
		"int java.lang.String.hashCode()":                                                  true,
		"void Tiers.main(java.lang.String[])":                                              true,
		"java.lang.String java.lang.StringLatin1.newString(byte[], int, int)":              true,
		"void java.lang.Object.<init>()":                                                   true,
		"java.lang.Object demo.Main$$Lambda$14/0x0000000800c03000.apply(java.lang.Object)": true,
		"Ljava/lang/String;::hashCode":                                                     true,
		"Ljava/lang/String;hashCode()I":                                                    true,
		"Ljava/lang/Object;<init>()V":                                                      true,
		"java.lang.String::hashCode":                                                       true,
		"Interpreter":                                                                      false,
		"StubRoutines (1)":                                                                 false,
		"I2C/C2I adapters":                                                                 false,
		"RuntimeStub - _new_instance_Java":                                                 false,
		"flush_icache_stub":                                                                false,
		"vtable chunks":                                                                    false,
		"call_stub":                                                                        false,
		"LazyCompile:*f /a.js:1:2":                                                         false,
	} {
		if isMethod(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

// The versions of a method in a perf map or a dump are merged if there is a Java virtual machine,
// but not the tiers of node's compiler.
func TestVersions(t *testing.T) {
	const fast, well = 0x7f0000001000, 0x7f0000002000
	list := &symtab.Draft{Table: symtab.Table{Modules: []symtab.Module{{Name: "(unknown)"}}}}
	for _, at := range []uint64{fast, well} {
		list.Functions = append(list.Functions, symtab.Function{Offset: at, Address: at, Size: 0x100, Linkage: "int A.f(int)", Aliases: "int A.f(int)", Name: "int A.f(int)", Kind: program.Dynamic})
	}
	table, perfMap := list.Finish(), decode.PerfMap(7)
	dumped := func(at uint64, code string) decode.MapEvent {
		return decode.MapEvent{Path: decode.GeneratedPath, Address: at, Size: 0x100, Modes: 5, Code: &decode.Code{Function: "LA;g()V", Bytes: []byte(code)}}
	}
	for _, library := range []string{"/jvm/lib/server/libjvm.so", "/usr/lib/libnode.so"} {
		r, _ := recording(tableMap{perfMap: table, library: tableOf("aa")})
		pr := process(r, text(library, 0x1000000), decode.MapEvent{Path: perfMap, Address: fast, Size: 0x2000, FileOffset: fast, Modes: 5},
			dumped(0x7f0000010000, "a"), dumped(0x7f0000020000, "b"))
		function := func(location program.LocationNo) (program.FunctionNo, funcinfo.Kind) {
			n := r.Program.Location(location).Function
			return n, r.Program.Functions[n].Kind
		}
		java := library[1] == 'j'
		for _, pcs := range [][2]uint64{{fast + 8, well + 8}, {0x7f0000010008, 0x7f0000020008}} {
			first, second := pr.Resolve(pcs[0], 0).Location, pr.Resolve(pcs[1], 0).Location
			a, kind := function(first)
			if b, _ := function(second); a == b || kind != program.Dynamic {
				t.Errorf("%s: functions %d and %d of kind %s", library, a, b, kind)
			}
			first, merged := r.Method(first)
			second, _ = r.Method(second)
			a, kind = function(first)
			if b, _ := function(second); merged != java || (a == b) != java || (kind == program.Java) != java {
				t.Errorf("%s: user mode has functions %d and %d of kind %s", library, a, b, kind)
			}
		}
	}
}
