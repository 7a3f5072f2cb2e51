package debuginfo_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/symbolize/symtab"
)

// named are the functions with names that their symbols are not.
func named(table *symtab.Table) map[string]string {
	names := map[string]string{}
	for _, f := range table.Functions {
		if f.Linkage != f.Name && f.Kind != symtab.PLT {
			names[f.Linkage] = f.Name
		}
	}
	return names
}

// A recording's program, made by gfortran: the main program, a module's
// procedure and one internal to it, a subroutine with an alternate entry.
func TestFortranRecorded(t *testing.T) {
	got, _ := table(t, open(t, "../symtab/testdata/entry"), nil)
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

// The names that gfortran's own options and debug formats give.
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
		run(t, dir, compiler, append([]string{"-o", "prog", "prog.f90", "-O1", "-fno-inline"}, strings.Fields(c.options)...)...)
		got, _ := table(t, open(t, filepath.Join(dir, "prog")), nil)
		names := map[string]int{}
		for _, f := range got.Functions {
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

// Inlined code of a procedure has the name that the procedure has.
func TestFortranInlined(t *testing.T) {
	compiler, err := exec.LookPath("gfortran")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "prog.f90"), []byte(inlinedProcedures), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, dir, compiler, "-g", "-O2", "-o", "prog", "prog.f90")
	got, _ := table(t, open(t, filepath.Join(dir, "prog")), nil)
	if !slices.Contains(got.Inlines.Names, "shapes::area::once") {
		t.Errorf("inlined: %q", got.Inlines.Names)
	}
	for _, name := range got.Inlines.Names {
		if !strings.HasPrefix(name, "shapes::area") {
			t.Errorf("inlined: %q", name)
		}
	}
}
