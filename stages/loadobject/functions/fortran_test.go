package functions_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/loadobject/dwarf/dwarftest"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/symtab"
)

// named lists the functions whose names differ from their symbols.
func named(table *symtab.Table) map[string]string {
	names := map[string]string{}
	for f := range table.Functions.All() {
		if f.Linkage != f.Name && f.Kind != funcinfo.PLT {
			names[f.Linkage] = f.Name
		}
	}
	return names
}

// A recorded gfortran program has the right names: of the main program, a module's procedure and one
// internal to it, and a subroutine with an alternate entry.
func TestFortranRecorded(t *testing.T) {
	got, _ := table(t, dwarftest.Open(t, "../symtab/testdata/entry"), nil)
	want := map[string]string{
		"MAIN__": "entries", "__mathmod_MOD_nested": "mathmod::nested", "inner.0": "mathmod::nested::inner",
		"body_": "body", "alt_": "alt", "master.0.body_": "master.0.body",
	}
	if d := cmp.Diff(want, named(got)); d != "" {
		t.Error(d)
	}
}

const procedures = `
module shapes
  implicit none
contains
  subroutine area(n, r)
    integer, intent(in) :: n
    real(8), intent(inout) :: r
    if (n < 0) call fail(r)
    call helper(n)
    call helper(n + 1)
  contains
    subroutine helper(k)
      integer, value :: k
      integer :: i
      do i = 1, k
        r = r + sqrt(dble(i))
      end do
      if (k > 1000) r = 0
    end subroutine helper
  end subroutine area
  subroutine fail(r)
    real(8), intent(inout) :: r
    r = -1
    stop 3
  end subroutine fail
  subroutine for_c(n) bind(C, name="ForC")
    integer, value :: n
    if (n > 3) print *, n
  end subroutine for_c
end module shapes

program drawing
  use shapes
  real(8) :: r
  r = 0
  call helper(3)
  call helper(4)
  call area(3, r)
  call plain(r)
  call for_c(2)
contains
  subroutine helper(k)
    integer, value :: k
    integer :: i
    !$omp parallel do reduction(+:r)
    do i = 1, k
      r = r + i
    end do
  end subroutine helper
end program drawing

subroutine plain(r)
  real(8) :: r
  r = r * 2
end subroutine plain
`

// Names are right with gfortran's own options and with all debug formats.
func TestFortranNames(t *testing.T) {
	compiler, err := exec.LookPath("gfortran")
	if err != nil {
		t.Skip(err)
	}
	all := []string{"drawing", "drawing::helper", "shapes::area", "shapes::area::helper", "shapes::fail", "shapes::for_c", "plain", "main"}
	for _, c := range []struct {
		options string
		want    []string
	}{
		{"-g", all}, {"-gdwarf-4", all}, {"-g -gsplit-dwarf", all}, {"-g -fopenmp", all},
		{"-gdwarf-2 -gstrict-dwarf", []string{"drawing", "drawing::helper", "shapes::area", "area::helper", "shapes::fail", "for_c", "plain", "main"}},
		{"-g0", []string{"MAIN__", "shapes::area", "helper.0", "helper.1", "shapes::fail", "ForC", "plain_", "main"}},
		{"-g -freorder-blocks-and-partition -O2", []string{"drawing", "shapes::area", "plain", "main"}},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "prog.f90"), []byte(procedures), 0o644); err != nil {
			t.Fatal(err)
		}
		dwarftest.Run(t, dir, compiler, append([]string{"-o", "prog", "prog.f90", "-O1", "-fno-inline"}, strings.Fields(c.options)...)...)
		got, _ := table(t, dwarftest.Open(t, filepath.Join(dir, "prog")), nil)
		names := map[string]int{}
		for f := range got.Functions.All() {
			names[f.Name]++
		}
		for _, want := range c.want {
			if names[want] != 1 {
				t.Errorf("%s: %d functions %s in %v", c.options, names[want], want, named(got))
			}
		}
	}
}

const inlinedProcedures = `
module shapes
  implicit none
contains
  subroutine area(n, r)
    integer, intent(in) :: n
    real(8), intent(inout) :: r
    call once(n)
    call kept(n)
    call kept(n + 1)
  contains
    subroutine once(k)
      integer, value :: k
      r = r + sqrt(dble(k))
    end subroutine once
    subroutine kept(k)
      integer, value :: k
      integer :: i
      do i = 1, k
        call once(i)
      end do
      if (k > 100) call kept(k / 2)
    end subroutine kept
  end subroutine area
end module shapes

program drawing
  use shapes
  real(8) :: r
  r = 1
  call area(3, r)
  print *, r
end program drawing
`

// Inlined code of a procedure has the procedure's name.
func TestFortranInlined(t *testing.T) {
	compiler, err := exec.LookPath("gfortran")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "prog.f90"), []byte(inlinedProcedures), 0o644); err != nil {
		t.Fatal(err)
	}
	dwarftest.Run(t, dir, compiler, "-g", "-O2", "-o", "prog", "prog.f90")
	got, _ := table(t, dwarftest.Open(t, filepath.Join(dir, "prog")), nil)
	if !slices.ContainsFunc(got.Inlines.Functions, func(f symtab.InlinedFunction) bool { return f.Name == "shapes::area::once" }) {
		t.Errorf("inlined: %v", got.Inlines.Functions)
	}
	for _, f := range got.Inlines.Functions {
		if !strings.HasPrefix(f.Name, "shapes::area") {
			t.Errorf("inlined: %q", f.Name)
		}
	}
}

// entryPoints is the assembly of compilers that make a subroutine and its alternate entries one
// function: module m, subroutine body with entry alt, and the internal procedure inner.
const entryPoints = `
	.text
	.globl body_, alt_, inner_, main
	.type body_,@function
	.type alt_,@function
	.type inner_,@function
	.type main,@function
start:
body_:	nop
	.size body_, 1
alt_:	nop
	ret
	.size alt_, 2
inner_:	ret
	.size inner_, 1
main:	ret
	.size main, 1
end:
	.section .debug_abbrev,"",@progbits
	.byte 1,0x11,1, 3,8, 0x13,0xb, 0x11,1, 0x12,7, 0,0
	.byte 2,0x1e,1, 3,8, 0,0
	.byte 3,0x2e,1, 3,8, 0x11,1, 0x12,7, 0,0
	.byte 4,0x03,0, 3,8, 0x11,1, 0,0
	.byte 0
	.section .debug_info,"",@progbits
	.long 2f-1f
1:	.value 4
	.long .debug_abbrev
	.byte 8
	.byte 1
	.string "entries.f90"
	.byte 0xe
	.quad start
	.quad end-start
	.byte 2
	.string "m"
	.byte 3
	.string "body"
	.quad body_
	.quad alt_+2-body_
	.byte 4
	.string "alt"
	.quad alt_
	.byte 3
	.string "inner"
	.quad inner_
	.quad 1
	.byte 0,0,0,0
2:
	.section .note.GNU-stack,"",@progbits
`

// An alternate entry belongs to the scope that contains the subroutine. A procedure internal to the
// subroutine belongs to the subroutine (S8).
func TestFortranEntryPoints(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "entries.s"), []byte(entryPoints), 0o644); err != nil {
		t.Fatal(err)
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("assembler text for x86-64")
	}
	dwarftest.Run(t, dir, "gcc", "-nostdlib", "-Wl,-e,main", "-o", "prog", "entries.s")
	got, _ := table(t, dwarftest.Open(t, filepath.Join(dir, "prog")), nil)
	if d := cmp.Diff(map[string]string{"body_": "m::body", "alt_": "m::alt", "inner_": "m::body::inner"}, named(got)); d != "" {
		t.Errorf("%s\n%v", d, got.Notes)
	}
}
