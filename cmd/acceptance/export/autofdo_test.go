package export

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"stackmill/queries/export"
)

// head matches the line of a function in llvm-profdata's output.
var head = regexp.MustCompile(`(?m)^(\S+):(\d+):0$`)

// llvm-profdata reads a profile: functions have the exclusive values of `report functions`, except
// for omissions that the profile's comments list.
func TestProfdata(t *testing.T) {
	program := llvm(t, "llvm-profdata")
	for _, name := range []string{"clones", "cxx", "omp_gcc"} {
		db := only(t, name+".er")
		path := file(t, db, export.Request{As: "autofdo", Metric: "totalcpu"})
		text := string(exported(t, db, export.Request{As: "autofdo", Metric: "totalcpu"}))
		of := regexp.MustCompile(`# Of (\d+), (\d+) are left out`).FindStringSubmatch(text)
		if of == nil || of[1] != strconv.FormatInt(total(t, db, "totalcpu", "user"), 10) {
			t.Fatalf("%s: %v", name, of)
		}
		out, err := exec.CommandContext(t.Context(), program, "merge", "--sample", "--text", "-o", "-", path).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		var sum int64
		for _, m := range head.FindAllStringSubmatch(string(out), -1) {
			n, _ := strconv.ParseInt(m[2], 10, 64)
			sum += n
			if !strings.Contains(text, m[0]+"\n") {
				t.Errorf("%s: %s is not exported", name, m[0])
			}
		}
		whole, _ := strconv.ParseInt(of[1], 10, 64)
		lost, _ := strconv.ParseInt(of[2], 10, 64)
		if sum != whole-lost || sum < whole/4 {
			t.Errorf("%s: sum %d, want %d - %d", name, sum, whole, lost)
		}
	}
}

// clang applies a profile to the lines with values.
func TestSampleUse(t *testing.T) {
	clang := llvm(t, "clang")
	source, err := filepath.Abs("../../../testdata/gprofng/src/clones.c")
	if err != nil {
		t.Fatal(err)
	}
	path := file(t, only(t, "clones.er"), export.Request{As: "autofdo", Metric: "totalcpu"})
	out, err := exec.CommandContext(t.Context(), clang, "-O2", "-gline-tables-only", "-Wno-unknown-attributes", "-fprofile-sample-use="+path, "-Rpass-analysis=sample-profile",
		"-c", "-o", filepath.Join(t.TempDir(), "clones.o"), source).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{`clones.c:8:\d+: remark: Applied 27916000 samples`, `clones.c:9:\d+: remark: Applied 29910000 samples`, `clones.c:19:\d+: remark: Applied 101694000 samples`} {
		if !regexp.MustCompile(want).Match(out) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}

// llvm returns the path of an LLVM program.
func llvm(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("no %s", name)
	}
	return path
}
