package cache

import (
	stdcontext "context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackmill/stages/loadobject/elf"
)

const (
	splitFirst = `int second(int);
static inline __attribute__((always_inline)) int inlined_first(int x) { return x * 3 + 1; }
int main(int n, char **v) { return inlined_first(n) + second(n); }
`
	splitSecond = `static inline __attribute__((always_inline)) int inlined_second(int x) { return x * 5 + 2; }
int second(int x) { return inlined_second(x); }
`
)

// program is a program in its own folder, whose debug files a test moves.
type program struct {
	t   *testing.T
	dir string
}

// run runs commands in the program's folder; the test is skipped if a tool is missing.
func (p *program) run(commands ...string) {
	p.t.Helper()
	for _, command := range commands {
		words := strings.Fields(command)
		if _, err := exec.LookPath(words[0]); err != nil {
			p.t.Skip(err)
		}
		ctx, cancel := stdcontext.WithTimeout(p.t.Context(), time.Minute) // some versions of dwp never end
		defer cancel()
		cmd := exec.CommandContext(ctx, words[0], words[1:]...)
		cmd.Dir = p.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			if strings.HasSuffix(words[0], "dwp") {
				p.t.Skipf("%s: %v\n%s", command, err, out)
			}
			p.t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
}

// compile builds `prog` from two units; if the options split the debug information, it goes into
// sub/first.dwo and second.dwo.
func (p *program) compile(compiler string, suffix string) {
	p.t.Helper()
	for name, text := range map[string]string{"sub/first.c": splitFirst + suffix, "second.c": splitSecond + suffix} {
		if err := os.MkdirAll(filepath.Join(p.dir, "sub"), 0o755); err != nil {
			p.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o644); err != nil {
			p.t.Fatal(err)
		}
	}
	cc := strings.Fields(compiler)[0]
	p.run(compiler+" -O2 -c -o sub/first.o sub/first.c", compiler+" -O2 -c -o second.o second.c", cc+" -Wl,--build-id -o prog sub/first.o second.o")
}

func (p *program) move(from, to string) {
	p.t.Helper()
	to = filepath.Join(p.dir, to)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(p.dir, from), to); err != nil {
		p.t.Fatal(err)
	}
}

func (p *program) remove(names ...string) {
	for _, name := range names {
		if err := os.RemoveAll(filepath.Join(p.dir, name)); err != nil {
			p.t.Error(err)
		}
	}
}

// check loads `prog`, with debug files below folder debug, and compares the names of its inlined
// functions; its notes on missing files must contain the texts said.
func (p *program) check(what, file, inlined string, said ...string) {
	p.t.Helper()
	table := load(p.t, New(Options{CacheDir: filepath.Join(p.dir, "cache"), DebugDirs: []string{filepath.Join(p.dir, "debug")}}), filepath.Join(p.dir, file))
	var names, notes []string
	for _, name := range []string{"inlined_first", "inlined_second"} {
		for _, f := range table.Inlines.Functions {
			if f.Name == name {
				names = append(names, name)
			}
		}
	}
	for _, n := range table.Notes {
		if n.Reason == elf.MissingDebug {
			notes = append(notes, n.Text)
		} else {
			p.t.Errorf("%s: %+v", what, n)
		}
	}
	if got := strings.Join(names, " "); got != inlined {
		p.t.Errorf("%s: the inlined functions are %q, want %q", what, got, inlined)
	}
	if len(notes) != min(len(said), 1) {
		p.t.Errorf("%s: %d notes: %q", what, len(notes), notes)
		return
	}
	for _, part := range said {
		if !strings.Contains(notes[0], part) {
			p.t.Errorf("%s: %q is not in %q", what, part, notes[0])
		}
	}
}

// Split debug information is found where the program or the user says. Otherwise one note says
// which file is missing, of how many units, and what is unknown because of that.
func TestMissingSplitFiles(t *testing.T) {
	const both, unknown = "inlined_first inlined_second", "The inlined functions, types, variables and languages in it are unknown"
	for _, compiler := range []string{"gcc -gdwarf-4", "gcc -gdwarf-5", "clang -gdwarf-4", "clang -gdwarf-5"} {
		t.Run(compiler, func(t *testing.T) {
			p := &program{t, t.TempDir()}
			p.compile(compiler+" -gsplit-dwarf", "")
			p.check("complete", "prog", both)
			p.move("second.dwo", "away/second.dwo")
			p.check("one missing", "prog", "inlined_first", p.dir+"/second.dwo (not found)", "of 1 unit is missing", unknown)
			p.move("sub/first.dwo", "away/first.dwo")
			p.check("both missing", "prog", "", "/first.dwo and 1 more file (not found)", "2 units", unknown)
			p.move("away/first.dwo", "debug/first.dwo")
			p.move("away/second.dwo", "debug/second.dwo")
			p.check("flat in a debug folder", "prog", both)
			p.move("debug/first.dwo", "debug/sub/first.dwo")
			p.check("by the recorded name in a debug folder", "prog", both)
			p.move("debug/sub/first.dwo", filepath.Join("debug", p.dir, "sub/first.dwo"))
			p.move("debug/second.dwo", filepath.Join("debug", p.dir, "second.dwo"))
			p.check("by their paths in a debug folder", "prog", both)
			p.move(filepath.Join("debug", p.dir, "sub/first.dwo"), "moved/sub/first.dwo")
			p.move(filepath.Join("debug", p.dir, "second.dwo"), "moved/second.dwo")
			p.run("cp prog moved/prog")
			p.check("moved with the program", "moved/prog", both)
			p.check("moved from the program", "prog", "", "2 units")
			p.move("moved/sub/first.dwo", "moved/first.dwo")
			p.check("moved flat with the program", "moved/prog", both)
			p.move("moved/first.dwo", "away/first.dwo")
			p.move("moved/second.dwo", "away/second.dwo")

			other := &program{t, t.TempDir()}
			other.compile(compiler+" -gsplit-dwarf", "static int more __attribute__((used));\n")
			p.run("cp "+other.dir+"/second.dwo second.dwo", "cp away/first.dwo sub/first.dwo")
			p.check("of another build", "prog", "inlined_first", p.dir+"/second.dwo (of another build)", "1 unit", unknown)
			p.move("away/second.dwo", "debug/second.dwo")
			p.check("of another build, and the right one", "prog", both)
			p.remove("second.dwo", "debug/second.dwo")
			p.run("mkdir second.dwo")
			p.check("a folder", "prog", "inlined_first", p.dir+"/second.dwo (cannot be read: ", "1 unit", unknown)
		})
	}
}

// The same for packages; no packager that was tried can make GCC's with DWARF 5.
func TestMissingPackages(t *testing.T) {
	const both = "inlined_first inlined_second"
	for compiler, pack := range map[string]string{
		"gcc -gdwarf-4": "dwp -e prog", "clang -gdwarf-4": "llvm-dwp sub/first.dwo second.dwo -o prog.dwp", "clang -gdwarf-5": "llvm-dwp sub/first.dwo second.dwo -o prog.dwp",
	} {
		t.Run(compiler, func(t *testing.T) {
			p := &program{t, t.TempDir()}
			p.compile(compiler+" -gsplit-dwarf", "")
			p.run(pack)
			p.remove("sub/first.dwo", "second.dwo")
			p.check("beside", "prog", both)
			p.move("prog.dwp", "debug/prog.dwp")
			p.check("in a debug folder", "prog", both)
			p.move("debug/prog.dwp", filepath.Join("debug", p.dir, "prog.dwp"))
			p.check("by its path in a debug folder", "prog", both)
			f, err := elf.Open(filepath.Join(p.dir, "prog"))
			if err != nil {
				t.Fatal(err)
			}
			id := f.BuildID()
			f.Close()
			p.move(filepath.Join("debug", p.dir, "prog.dwp"), filepath.Join("debug/.build-id", id[:2], id[2:]+".dwp"))
			p.check("by build-id", "prog", both)
			p.move(filepath.Join("debug/.build-id", id[:2], id[2:]+".dwp"), "away.dwp")
			p.check("missing", "prog", "", "2 units", "/first.dwo and 1 more file (not found)")

			other := &program{t, t.TempDir()}
			other.compile(compiler+" -gsplit-dwarf", "static int more __attribute__((used));\n")
			other.run(pack)
			p.run("cp " + other.dir + "/prog.dwp prog.dwp")
			p.check("of another build", "prog", "", "2 units", "prog.dwp does not have it")
			p.move("away.dwp", "debug/prog.dwp")
			p.check("of another build, and the right one", "prog", both)
		})
	}
}

// The same for the file into which dwz moved what several files share.
func TestMissingSupplement(t *testing.T) {
	const both = "inlined_first inlined_second"
	for _, options := range []string{"", "--dwarf-5 "} {
		t.Run("dwz "+options, func(t *testing.T) {
			p := &program{t, t.TempDir()}
			p.compile("gcc -g", "")
			p.run("cp prog other", "dwz "+options+"-m common prog other")
			p.check("complete", "prog", both)
			p.move("common", "debug/common")
			p.check("in a debug folder", "prog", both)
			p.move("debug/common", filepath.Join("debug", p.dir, "common"))
			p.check("by its path in a debug folder", "prog", both)
			p.move(filepath.Join("debug", p.dir, "common"), "away")
			p.check("missing", "prog", "", "common", "(not found)", "2 units", "the inlined functions, types, variables and names that it has for 2 units are unknown")

			other := &program{t, t.TempDir()}
			other.compile("gcc -g", "static int more __attribute__((used));\n")
			other.run("cp prog other", "dwz "+options+"-m common prog other")
			p.run("cp " + other.dir + "/common common")
			p.check("of another build", "prog", "", "common", "(of another build)", "2 units")
			p.move("away", "debug/common")
			p.check("of another build, and the right one", "prog", both)
		})
	}
}
