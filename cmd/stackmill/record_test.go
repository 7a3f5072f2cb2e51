package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"stackmill/internal/exit"
	"stackmill/pipeline/record"
)

// waiting is a C program in which one thread waits for a mutex that another one holds while it works.
const waiting = `#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long sum;
static void work(void) { for (long i = 0; i < 30000000; i++) sum += i; }
static void enter(void) { pthread_mutex_lock(&lock); }
static void *turn(void *arg) { enter(); work(); pthread_mutex_unlock(&lock); return arg; }
int main(void) {
	pthread_t other;
	pthread_create(&other, 0, turn, 0);
	turn(0);
	pthread_join(other, 0);
	return 3;
}
`

// profiler skips a test if a profiler is not there or may not record.
func profiler(t *testing.T, try ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), try[0], try[1:]...)
	c.Dir = t.TempDir()
	if out, err := c.CombinedOutput(); err != nil {
		t.Skipf("%q: %v: %s", try, err, out)
	}
}

func needPerf(t *testing.T) {
	t.Helper()
	profiler(t, record.Perf, "record", "-e", "cpu-clock", "-e", "sched:sched_switch", "--switch-events", "true")
}

// recordIn runs `stackmill record` with an empty input in a folder, and returns the status, standard
// output and standard error.
func recordIn(t *testing.T, dir string, args ...string) (status int, out, errs string) {
	t.Helper()
	c := program(t, append([]string{"record", "--cache", ""}, args...)...)
	var stdout, stderr strings.Builder
	c.Dir, c.Stdin, c.Stdout, c.Stderr = dir, strings.NewReader("b\na\nb\n"), &stdout, &stderr
	_ = c.Run() // the status is checked
	t.Logf("%q: %d\n%s", args, c.ProcessState.ExitCode(), stderr.String())
	return c.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

// inStore returns what a verb prints about a store in a folder.
func inStore(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := program(t, args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("%q: %v: %s", args, err, out)
	}
	return string(out)
}

// A program is recorded with its waits, keeps its input, output and exit status, and the commands
// printed afterwards show it.
func TestRecord(t *testing.T) {
	needPerf(t)
	dir := t.TempDir()
	source, binary := filepath.Join(dir, "waiting.c"), filepath.Join(dir, "waiting")
	if err := os.WriteFile(source, []byte(waiting), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "gcc", "-g", "-o", binary, source, "-lpthread").CombinedOutput(); err != nil {
		t.Skipf("gcc: %v: %s", err, out)
	}
	status, out, errs := recordIn(t, dir, "./waiting")
	if status != 3 || out != "" || !strings.Contains(errs, "stackmill: perf record -o waiting.1.data ") {
		t.Errorf("status %d: %s", status, out)
	}
	_, next, _ := strings.Cut(errs, "Look at it with\n")
	for command := range strings.Lines(next) {
		args := strings.Fields(command)[1:]
		if args[0] == "serve" {
			continue
		}
		shown := inStore(t, dir, args...)
		want := []string{"work", "enter", "<Blocked>"}
		if args[1] == "waits" {
			want = []string{"blocked"}
		}
		for _, name := range want {
			if !strings.Contains(shown, name) {
				t.Errorf("%s has no %s:\n%s", command, name, shown)
			}
		}
	}
	if status, out, _ = recordIn(t, dir, "--label", "n=1", "--call-graph", "fp", "--", "sh", "-c", "sort | uniq -c; exit 7"); status != 7 || strings.Join(strings.Fields(out), " ") != "1 a 2 b" {
		t.Errorf("status %d: %q", status, out)
	}
	if shown := inStore(t, dir, "experiments"); !strings.Contains(shown, "sh.1.data") || !strings.Contains(shown, "n=1") {
		t.Errorf("%s", shown)
	}
	for script, want := range map[string]int{"exit 0": 0, "kill -SEGV $$": 128 + int(syscall.SIGSEGV)} {
		if status, _, _ := recordIn(t, dir, "--waits=false", "sh", "-c", script); status != want {
			t.Errorf("%s: status %d", script, status)
		}
	}
	if shown := inStore(t, dir, "check"); !strings.Contains(shown, "nothing is wrong") {
		t.Errorf("%s", shown)
	}
}

// Wrong use has the status 2, a missing program that of the shell.
func TestRecordUse(t *testing.T) {
	for status, calls := range map[int][][]string{
		exit.Usage: {{}, {"--with", "gdb", "true"}, {"--frequency", "0", "true"}, {"--system", "--pid", "1"}, {"--label", "x", "true"}},
		127:        {{"nosuch-program"}, {"--with", record.Gprofng, "./nosuch-program"}},
	} {
		for _, args := range calls {
			if got, _, errs := recordIn(t, t.TempDir(), args...); got != status || !strings.HasPrefix(errs, "stackmill: record: ") {
				t.Errorf("%q: status %d: %s", args, got, errs)
			}
		}
	}
}

// A signal ends the program, and the recording is kept.
func TestRecordSignal(t *testing.T) {
	needPerf(t)
	for _, sent := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		dir := t.TempDir()
		c := program(t, "record", "--cache", "", "sh", "-c", "echo started; exec sleep 100")
		var errs strings.Builder
		c.Dir, c.Stderr = dir, &errs
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		_, _ = out.Read(make([]byte, 8)) // it has started
		time.Sleep(100 * time.Millisecond)
		_ = c.Process.Signal(sent)
		_ = c.Wait() // the status is checked
		if status := c.ProcessState.ExitCode(); status != 128+int(syscall.SIGTERM) || !strings.Contains(errs.String(), "Look at it with") {
			t.Errorf("%v: status %d\n%s", sent, status, &errs)
		}
		if shown := inStore(t, dir, "report", "sched-threads"); !strings.Contains(shown, "sleep") {
			t.Errorf("%s", shown)
		}
	}
}

// gprofng records with the same verb.
func TestRecordGprofng(t *testing.T) {
	profiler(t, record.Gprofng, "collect", "app", "/bin/true")
	dir := t.TempDir()
	status, _, errs := recordIn(t, dir, "--with", record.Gprofng, "sh", "-c", "exit 3")
	if status != 3 || !strings.Contains(errs, "stackmill: gprofng collect app -o sh.1.er ") || !strings.Contains(errs, "--experiment sh.1.er") {
		t.Errorf("status %d", status)
	}
	if shown := inStore(t, dir, "experiments"); !strings.Contains(shown, "sh.1.er") {
		t.Errorf("%s", shown)
	}
}

// A user without permissions gets what is permitted, and reads what that lacks.
func TestRecordUnprivileged(t *testing.T) {
	needPerf(t)
	if os.Geteuid() != 0 {
		t.Skip("only root can become a user without permissions")
	}
	dir, err := os.MkdirTemp("", "record-") // not in t.TempDir, which others may not enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	const nobody = 65534
	binary := filepath.Join(dir, "stackmill")
	copyFile(t, binary)
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"sh", "-c", "exit 3"}, {"--system", "true"}} {
		c := exec.CommandContext(t.Context(), binary, append([]string{"record", "--with", record.Perf, "--cache", ""}, args...)...)
		c.Dir, c.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir}
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		out, _ := c.CombinedOutput()
		status, text := c.ProcessState.ExitCode(), string(out)
		switch recorded := strings.Contains(text, "1 ingested"); {
		case !strings.Contains(text, "sysctl kernel.perf_event_paranoid=-1"):
			t.Errorf("%q: no advice: %s", args, text)
		case args[0] == "--system" && (status != 1 || recorded), args[0] == "sh" && recorded && (status != 3 || !strings.Contains(text, "the recording will lack")):
			t.Errorf("%q: status %d: %s", args, status, text)
		}
	}
}

// copyFile copies this program for other users.
func copyFile(t *testing.T, path string) {
	t.Helper()
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(f, self); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// The commands of docs/perf.md record what they say.
func TestPerfCommands(t *testing.T) {
	needPerf(t)
	page, err := os.ReadFile("../../docs/perf.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "```sh\n# Time on CPUs of one program.\n")
	block, _, _ = strings.Cut(block, "```")
	dir := t.TempDir()
	running := exec.CommandContext(t.Context(), "sleep", "100")
	if err := running.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = running.Process.Kill()
		_ = running.Wait() // it was killed
	}()
	stand := strings.NewReplacer("./program", "sh -c 'sleep 0.1; ls /'", "sleep 10", "sleep 0.1", "4711", strconv.Itoa(running.Process.Pid))
	commands, files := 0, []string{"ingest", "--cache", ""}
	for line := range strings.Lines(block) {
		if !strings.HasPrefix(line, "perf ") {
			continue
		}
		commands++
		line = stand.Replace(line)
		name := strconv.Itoa(commands) + ".data"
		c := exec.CommandContext(t.Context(), "sh", "-c", strings.Replace(line, " record ", " record -o "+name+" ", 1))
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil && !strings.Contains(string(out), "unknown tracepoint") { // of another kernel
			t.Errorf("%s%v: %s", line, err, out)
		}
		if !strings.Contains(line, " -a ") { // the machine's programs would take minutes
			files = append(files, name)
		}
	}
	if shown := inStore(t, dir, files...); commands < 12 || !strings.Contains(shown, strconv.Itoa(len(files)-3)+" ingested") {
		t.Errorf("%d commands: %s", commands, shown)
	}
}
