package acceptance

import (
	"bufio"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestDebugLines compares the line of every instruction in the archived programs with addr2line of
// binutils: its outermost inline frame is the call site to which the manual charges inlined code
// (S10). Code that clang inlines into the body of a parallel region is the body itself.
func TestDebugLines(t *testing.T) {
	addr2line, err := exec.LookPath("addr2line")
	if err != nil {
		if os.Getenv("STACKMILL_REQUIRE_GPROFNG") == "1" {
			t.Fatal("STACKMILL_REQUIRE_GPROFNG is set:", err)
		}
		t.Skip(err)
	}
	compared := 0
	for _, c := range cases(t) {
		t.Run(c, func(t *testing.T) {
			for object, places := range knownLines(t, c) {
				archived, err := filepath.Glob(filepath.Join(recordings, "exp", c+".er", "archives", filepath.Base(object)+"_*"))
				if err != nil || len(archived) == 0 || !hasLines(t, archived[0]) {
					continue // addr2line might find lines in this machine's debug files
				}
				want := outermostLines(t, addr2line, archived[0], places)
				for i, p := range places {
					if p.line == 0 && strings.HasSuffix(want[i], ":0") {
						continue // addr2line may print a symbol's file
					}
					compared++
					if got := fmt.Sprintf("%s:%d", filepath.Base(p.file), p.line); got != want[i] {
						t.Errorf("%s %#x: %s, want %s", object, p.address, got, want[i])
					}
				}
			}
		})
	}
	if compared < 500 {
		t.Errorf("only %d lines were compared", compared)
	}
}

func hasLines(t *testing.T, object string) bool {
	t.Helper()
	f, err := elf.Open(object)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return f.Section(".debug_line") != nil
}

// source is an instruction with its line.
type source struct {
	address int64 // link-time
	file    string
	line    int
}

// knownLines returns the instructions of an experiment's functions by load object.
func knownLines(t *testing.T, c string) map[string][]source {
	found := map[string][]source{}
	query(t, shared.DB, func(r row) error {
		var object string
		var s source
		err := r.Scan(&object, &s.address, &s.file, &s.line)
		found[object] = append(found[object], s)
		return err
	}, `SELECT o.path, l."offset" - f."offset" + f.address, l.file, l.line
		FROM locations_wide l JOIN functions f USING (experiment_id, function_id)
		JOIN load_objects o ON o.experiment_id = l.experiment_id AND o.load_object_id = l.load_object_id
		JOIN experiments e ON e.experiment_id = l.experiment_id
		WHERE experiment = ? AND o.kind = 'elf' ORDER BY ALL`, experiment(c))
	return found
}

// outermostLines asks addr2line for the lines of instructions, as `file:line`.
func outermostLines(t *testing.T, addr2line, object string, places []source) []string {
	t.Helper()
	var in strings.Builder
	for _, p := range places {
		fmt.Fprintf(&in, "%#x\n", p.address)
	}
	cmd := exec.Command(addr2line, "-a", "-i", "-f", "-e", object)
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	var lines []string
	inner := "" // the function of the frame before
	sc := bufio.NewScanner(strings.NewReader(string(out)))
	for sc.Scan() {
		if strings.HasPrefix(sc.Text(), "0x") {
			lines, inner = append(lines, ""), ""
			continue
		}
		function := sc.Text()
		if !sc.Scan() {
			t.Fatalf("%v: no line of %s", cmd, function)
		}
		if !strings.HasPrefix(inner, ".omp_outlined._debug__") {
			lines[len(lines)-1] = baseLine(sc.Text())
		}
		inner = function
	}
	if len(lines) != len(places) {
		t.Fatalf("%v: %d answers for %d instructions", cmd, len(lines), len(places))
	}
	return lines
}

// baseLine converts addr2line's path and line to `file:line`.
func baseLine(text string) string {
	file, line, _ := strings.Cut(text, ":")
	line, _, _ = strings.Cut(line, " (discriminator")
	n, _ := strconv.Atoi(line) // `?` for no line
	if file == "??" {
		file = "."
	}
	return fmt.Sprintf("%s:%d", filepath.Base(file), n)
}
