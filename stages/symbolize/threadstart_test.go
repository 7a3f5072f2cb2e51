package symbolize

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/cache"
)

// threads is a program that passes some of its functions to pthread_create. "only" and "looped" are
// not called, "both" is also called, "ended" is also what another function ends with, "shown" is also
// called through the procedure linkage table of a library, "other" is only called, and "given" comes
// from a caller.
const threads = `
#include <pthread.h>
volatile long n;
#define FUNCTION __attribute__((noinline, noipa, used))
#define BODY { for (long i = 0; i < 1000; i++) n += i; return a; }
FUNCTION static void *only(void *a) BODY
FUNCTION static void *looped(void *a) BODY
FUNCTION static void *both(void *a) BODY
FUNCTION static void *ended(void *a) BODY
FUNCTION void *shown(void *a) BODY
FUNCTION static void *other(void *a) BODY
FUNCTION void *last(void *a) { n++; return ended(a); }
FUNCTION static void *given(void *a) BODY
FUNCTION void start(void *(*f)(void *), pthread_t *t) { pthread_create(t, 0, f, t); }
int main(int argc, char **argv) {
	pthread_t t[8];
	pthread_create(t, 0, only, t);
	for (int i = 1; i < 4; i++) pthread_create(t + i, 0, looped, t + i);
	pthread_create(t + 4, 0, both, t);
	pthread_create(t + 6, 0, ended, t);
	pthread_create(t + 7, 0, shown, t);
	both(t); other(t); last(t); shown(t);
	start(given, t + 5);
	for (int i = 0; i < 8; i++) pthread_join(t[i], 0);
	return 0;
}`

// TestBeginsThread checks that machine code proves in which functions threads begin, even in stripped
// programs. A function that is also called is not among them, nor is a function that the code does not
// visibly pass.
func TestBeginsThread(t *testing.T) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("no such machine code")
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "threads.c")
	if err := os.WriteFile(source, []byte(threads), 0o644); err != nil {
		t.Fatal(err)
	}
	for n, flags := range []string{"-O0", "-O2", "-O2 -fno-plt", "-O2 -no-pie -fno-pic", "-O2 -fcf-protection=none -Wl,-z,lazy", "-O3 -fomit-frame-pointer", "-O2 -fPIC -shared -fno-semantic-interposition", "-O2 -fPIC -shared"} {
		if runtime.GOARCH != "amd64" {
			flags = strings.ReplaceAll(flags, "-fcf-protection=none ", "")
		}
		path := filepath.Join(dir, fmt.Sprint("threads", n))
		run(t, "gcc", append(strings.Fields(flags), "-pthread", "-o", path, source)...)
		addresses := map[string]uint64{}
		for line := range strings.Lines(run(t, "nm", path)) {
			if words := strings.Fields(line); len(words) == 3 {
				address, _ := strconv.ParseUint(words[0], 16, 64)
				addresses[words[2]] = address
			}
		}
		for _, stripped := range []bool{false, true} {
			if stripped {
				run(t, "strip", path)
			}
			r, rec := recording(nil)
			rec.Locate = func(string) []decode.Candidate { return []decode.Candidate{{Path: path, Origin: "path"}} }
			r.tables = cache.New(cache.Options{}).Local()
			pr := process(r, codeOf(t, path))
			got := map[string]bool{}
			for _, name := range []string{"only", "looped", "both", "ended", "shown", "other", "given", "start", "main"} {
				got[name] = r.BeginsThread(pr.Resolve(base+addresses[name]+4, 0).Location)
			}
			want := map[string]bool{"only": true, "looped": true, "both": false, "ended": false, "shown": false, "other": false, "given": false, "start": false, "main": false}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s, stripped: %v (-want +got)\n%s", flags, stripped, d)
			}
		}
	}
}

// base is the offset between the link-time addresses of programs and the addresses at which they are
// loaded.
const base = 0x7f0000000000

// codeOf returns the mapping of a program's code.
func codeOf(t *testing.T, path string) decode.MapEvent {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			return decode.MapEvent{Path: path, Address: base + p.Vaddr, Size: (p.Memsz + 0xfff) &^ 0xfff, FileOffset: p.Off, Modes: 5}
		}
	}
	t.Fatal("no code in " + path)
	return decode.MapEvent{}
}

func run(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.Command(program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", program, args, err, out)
	}
	return string(out)
}
