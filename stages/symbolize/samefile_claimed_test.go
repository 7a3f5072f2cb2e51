package symbolize

import (
	"testing"

	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/symtab"
)

// A file with the build-id and name of another file, but other functions, is an object of its own,
// whichever comes first. Copies of each file are one object.
func TestClaimedBuild(t *testing.T) {
	honest, doubted := tableOf("aa", symtab.Function{Name: "f"}), tableOf("aa", symtab.Function{Name: "g"})
	honest.Key, doubted.Key = "1", "2"
	doubted.Notes = []symtab.Note{{Offset: -1, Reason: elf.ClaimedBuildID, Text: "two claim it"}}
	for _, first := range []bool{true, false} {
		a, b := honest, doubted
		if !first {
			a, b = b, a
		}
		r, rec := recording(tableMap{"/a/lib.so": a, "/b/lib.so": b, "/c/lib.so": a, "/d/lib.so": b})
		pr := process(r, text("/a/lib.so", 0x1000000), text("/b/lib.so", 0x2000000), text("/c/lib.so", 0x3000000), text("/d/lib.so", 0x4000000))
		want := map[uint64]string{0x1000010: "lib.so " + a.Functions.At(0).Name, 0x2000010: "lib.so " + b.Functions.At(0).Name,
			0x3000010: "lib.so " + a.Functions.At(0).Name, 0x4000010: "lib.so " + b.Functions.At(0).Name}
		for pc, name := range want {
			if got := at(pr, pc, 0); got != name {
				t.Errorf("%#x: %s, want %s", pc, got, name)
			}
		}
		ids := map[int64]bool{}
		for i := range r.Program.Objects {
			r.loadObjects[i].touch()
			ids[r.Program.Objects[i].ID] = true
		}
		if len(ids) != len(r.Program.Objects) {
			t.Error("two objects have one id")
		}
		r.Finish()
		told := 0
		for _, p := range rec.Problems.Problems {
			if p.Reason == elf.ClaimedBuildID {
				told++
			}
		}
		if told != 1 {
			t.Errorf("problems %v", rec.Problems.Problems)
		}
	}
}
