package symtab

import (
	debugelf "debug/elf"
	"stackmill/stages/loadobject/funcinfo"
	"testing"
)

func TestSize(t *testing.T) {
	sym := func(name string, offset, size uint64) symbol {
		return symbol{name: name, offset: offset, size: size, binding: debugelf.STB_GLOBAL}
	}
	text := Region{".text", 100, 1100, 100}
	plt := Region{".plt", 80, 1080, 20}
	for _, c := range []struct {
		name    string
		symbols []symbol
		want    []Function
	}{
		{"alone", []symbol{sym("f", 110, 10)}, []Function{{Offset: 110, Size: 10, Linkage: "f", Aliases: "f"}}},
		{"no size, last: to the end of the region", []symbol{sym("f", 110, 0)}, []Function{{Offset: 110, Size: 90, Linkage: "f", Aliases: "f"}}},
		{"no size: to the next", []symbol{sym("f", 110, 0), sym("g", 120, 5)},
			[]Function{{Offset: 110, Size: 10, Linkage: "f", Aliases: "f"}, {Offset: 120, Size: 5, Linkage: "g", Aliases: "g"}}},
		{"past the next", []symbol{sym("f", 110, 50), sym("g", 120, 5)},
			[]Function{{Offset: 110, Size: 10, Linkage: "f", Aliases: "f"}, {Offset: 120, Size: 5, Linkage: "g", Aliases: "g"}}},
		{"past the region", []symbol{sym("f", 190, 50)}, []Function{{Offset: 190, Size: 10, Linkage: "f", Aliases: "f"}}},
		{"aliases: the largest size, the last name", []symbol{sym("zeta", 110, 0), sym("_beta", 110, 7), sym("alpha", 110, 3), sym("alpha", 110, 3), sym("other", 130, 1)},
			[]Function{{Offset: 110, Size: 7, Linkage: "zeta", Aliases: "_beta\talpha\tzeta", PerfName: "alpha"}, {Offset: 130, Size: 1, Linkage: "other", Aliases: "other"}}},
		{"a local alias", []symbol{sym("f", 110, 8), sym("f.localalias", 110, 8)},
			[]Function{{Offset: 110, Size: 8, Linkage: "f", Aliases: "f\tf.localalias", PerfName: "f.localalias"}}},
		{"in the PLT", []symbol{sym("f", 85, 4)}, nil},
	} {
		want := []Function{{Offset: 80, Address: 1080, Size: 20, Name: "@plt", Kind: funcinfo.PLT}}
		for _, f := range c.want {
			f.Address, f.Name, f.Kind = f.Offset+1000, f.Linkage, funcinfo.Normal
			want = append(want, f)
		}
		for i := range c.symbols {
			c.symbols[i].order = i
		}
		got := makeFunctions(c.symbols, []Region{plt, text}, newNamer(false))
		if len(got) != len(want) {
			t.Errorf("%s: got %+v", c.name, got)
			continue
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s: got %+v, want %+v", c.name, got[i], want[i])
			}
		}
	}
}
