package functions_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stackmill/stages/loadobject/elf"
)

const adaProgram = `
procedure Shapes is
   Total : Integer := 0 with Volatile;
   procedure Outer (N : Integer) with No_Inline;
   procedure Outer (N : Integer) is
      procedure Nested with No_Inline;
      procedure Nested is
      begin
         Total := Total + N;
      end Nested;
   begin
      Nested;
      Total := Total + 1;
   end Outer;
   procedure Twice (N : Integer) with No_Inline;
   procedure Twice (N : Integer) is
   begin
      Outer (N);
      Total := Total + 2;
   end Twice;
   procedure Twice (B : Boolean) with No_Inline;
   procedure Twice (B : Boolean) is
   begin
      if B then
         Outer (1);
      end if;
      Total := Total + 2;
   end Twice;
begin
   Twice (3);
   Twice (Total > 2);
end Shapes;
`

// Ada procedures have the names in their source, qualified with the enclosing units.
func TestAda(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "shapes.adb"), []byte(adaProgram), 0o666); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("gnatmake", "-q", "-g", "-O0", "shapes.adb")
	c.Dir = folder
	if text, err := c.CombinedOutput(); err != nil {
		t.Skipf("%v: %s", err, text)
	}
	f, err := elf.Open(filepath.Join(folder, "shapes"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, _ := table(t, f, nil)
	got := map[string]string{}
	for linkage, name := range named(list) {
		if base, _, _ := strings.Cut(linkage, "."); strings.HasPrefix(base, "shapes__") || base == "_ada_shapes" {
			got[base] = name
		}
	}
	want := map[string]string{
		"_ada_shapes": "shapes", "shapes__outer": "shapes.outer", "shapes__outer__nested": "shapes.outer.nested",
		"shapes__twice": "shapes.twice", "shapes__twice__2": "shapes.twice",
	}
	for linkage, name := range want {
		if got[linkage] != name {
			t.Errorf("%s: got %q, want %q", linkage, got[linkage], name)
		}
	}
}
