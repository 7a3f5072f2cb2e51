package tempdir

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// holding makes the test program make a folder and wait.
const holding = "STACKMILL_TEST_HOLD"

func TestMain(m *testing.M) {
	if os.Getenv(holding) != "" {
		d, err := Make("test")
		if err == nil {
			err = os.WriteFile(filepath.Join(d.Path, "large"), nil, 0o600)
		}
		fmt.Println(d.Path, err)
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// hold starts a process that makes a folder, and returns it with the folder.
func hold(t *testing.T) (*exec.Cmd, string) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), holding+"=1")
	if _, err := c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var path string
	var failed string
	if _, err := fmt.Fscan(bufio.NewReader(out), &path, &failed); err != nil || failed != "<nil>" {
		t.Fatal(path, failed, err)
	}
	return c, path
}

// The folders of a killed process are removed, but not those of a living process, of another
// machine, or of another program.
func TestSweep(t *testing.T) {
	parent := t.TempDir()
	t.Setenv("TMPDIR", parent)
	dead, left := hold(t)
	living, held := hold(t)
	if err := dead.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = dead.Wait()
	other := func(name, owner string, age time.Duration) string {
		path := filepath.Join(parent, name)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if owner != "" {
			if err := os.WriteFile(filepath.Join(path, lockFile), []byte(owner), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		then := time.Now().Add(-age)
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
		return path
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := other("stackmill-sql-1", host+".other", 0)
	stranger := other("somebody-else", host, 0)
	young, old := other("stackmill-sql-2", "", 0), other("stackmill-sql-3", "", 2*unlockedAge)
	link := filepath.Join(parent, "stackmill-sql-4")
	if err := os.Symlink(stranger, link); err != nil {
		t.Fatal(err)
	}
	own.swept = false
	d, err := Make("test")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Remove(); err != nil {
		t.Error(err)
	}
	for path, want := range map[string]bool{left: false, held: true, elsewhere: true, stranger: true, young: true, old: false, link: true, d.Path: false} {
		if _, err := os.Lstat(path); (err == nil) != want {
			t.Errorf("%s: there: %t, want %t", path, err == nil, want)
		}
	}
	if err := living.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = living.Wait()
}

// RemoveAll removes all folders, and a file never has a name.
func TestRemoveAll(t *testing.T) {
	parent := t.TempDir()
	t.Setenv("TMPDIR", parent)
	for range 3 {
		if _, err := Make("test"); err != nil {
			t.Fatal(err)
		}
	}
	f, err := File()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	RemoveAll()
	if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}
