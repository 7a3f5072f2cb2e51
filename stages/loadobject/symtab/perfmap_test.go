package symtab

import (
	"fmt"
	"stackmill/stages/loadobject/funcinfo"
	"strings"
	"testing"
)

// Each line is one function. Unreadable lines are counted, and where functions overlap, those
// listed later win (perf-data 18.1).
func TestReadPerfMap(t *testing.T) {
	for _, c := range []struct{ name, text, want, note string }{
		{"plain", "1000 10 one\n2000 20 two\n", "1000+10 one, 2000+20 two", ""},
		{"no newline at the end, carriage return", "1000 10 one\r\n2000 20 two", "1000+10 one, 2000+20 two", ""},
		{"prefixed and upper case", "0x1000 0X1F one\nAB00 c two\n", "1000+1f one, ab00+c two", ""},
		{"blanks and signs in names", "1000 10 java.util.List<T>::get (int) [x]\n", "1000+10 java.util.List<T>::get (int) [x]", ""},
		{"tabs, several blanks", "1000\t10\tone\n  2000   20  two words \n", "1000+10 one, 2000+20 two words", ""},
		{"names that are numbers", "1000 10 20\n", "1000+10 20", ""},
		{"without size, name or sense", "1000 one\n2000\n3000 10\n4000 0 empty\nffffffffffffffff 10 wrapped\nxyz 10 a\n\n5000 10 good\n", "5000+10 good", "6 lines are not of the form START SIZE NAME"},
		{"no text", "1000 10 \xff\xfe\n", "1000+10 \uFFFD", ""},
		{"replaced", "1000 10 old\n1000 10 new\n", "1000+10 new", ""},
		{"inside", "1000 30 old\n1010 10 new\n", "1000+10 old, 1010+10 new, 1020+10 old", ""},
		{"around", "1010 10 old\n1000 30 new\n", "1000+30 new", ""},
		{"across", "1000 20 old\n1010 20 new\n", "1000+10 old, 1010+20 new", ""},
		{"back again", "1000 10 one\n1000 10 two\n1000 10 one\n", "1000+10 one", ""},
		{"nothing", "", "", ""},
	} {
		table := ReadPerfMap([]byte(c.text)).Finish()
		var got []string
		for f := range table.Functions.All() {
			got = append(got, fmt.Sprintf("%x+%x %s", f.Offset, f.Size, f.Name))
			if f.Kind != funcinfo.Dynamic {
				t.Errorf("%s: %s is %s", c.name, f.Name, f.Kind)
			}
		}
		note := ""
		for _, n := range table.Notes {
			note += n.Text
		}
		if s := strings.Join(got, ", "); s != c.want || note != c.note {
			t.Errorf("%s: %s, %q; want %s, %q", c.name, s, note, c.want, c.note)
		}
	}
}

// Functions of any list are sorted and do not overlap.
func FuzzReadLists(f *testing.F) {
	f.Add([]byte("1000 30 old\n1010 10 new\n0 ffffffffffffffff all\n"))
	f.Add([]byte("ffffffff81000000 T _text\nffffffff81000000 t a\nffffffffc0001000 t f\t[mod]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, table := range []*Table{ReadPerfMap(text).Finish(), ReadKernel(text).Finish()} {
			end := uint64(0)
			for g := range table.Functions.All() {
				if g.Offset < end || g.Size == 0 || int(g.Module) >= len(table.Modules) {
					t.Fatalf("%+v behind %#x", g, end)
				}
				end = g.Offset + g.Size
			}
		}
	})
}
