package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"stackmill/queries/storetest"
)

// answering returns the child processes that answer requests.
func answering(t *testing.T, parent int) (pids []int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(all) == 0 {
		t.Skip("the system does not list processes")
	}
	for _, path := range all {
		stat, _ := os.ReadFile(path) // the process may have ended
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 2 || fields[1] != fmt.Sprint(parent) || !bytes.Contains(line, []byte("\x00--answer\x00")) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		pids = append(pids, pid)
	}
	return pids
}

// waitFor waits for a condition.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range int(hangs / (20 * time.Millisecond)) {
		if holds() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("waiting for %s", what)
}

// A server that is killed while SQL runs leaves nothing: its processes end, and the next start
// removes its files.
func TestKilled(t *testing.T) {
	store, temp := storetest.New(t, storetest.Two), t.TempDir()
	statement := "SELECT max(x) FROM (SELECT md5(range::VARCHAR) AS x FROM range(1_000_000_000) ORDER BY ALL)" // it has temporary files soon
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("0123456789abcdef0123456789abcdef"), 0o600); err != nil {
		t.Fatal(err)
	}
	for verb, ask := range map[string]func(in io.Writer, out *bufio.Reader){
		"mcp": func(in io.Writer, _ *bufio.Reader) {
			fmt.Fprintf(in, `{"id":1,"method":"tools/call","params":{"name":"query","arguments":{"sql":"%s"}}}`+"\n", statement)
		},
		"serve --listen 127.0.0.1:0 --memory 64M --token-file " + token: func(_ io.Writer, out *bufio.Reader) {
			line, _ := out.ReadString('\n')
			r, err := http.NewRequest("POST", strings.TrimPrefix(strings.TrimSpace(line), "listening on ")+"/api/v1/query", strings.NewReader(`{"sql":"`+statement+`"}`))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer 0123456789abcdef0123456789abcdef")
			r.Header.Set("Content-Type", "application/json")
			go func() {
				if response, err := http.DefaultClient.Do(r); err == nil {
					response.Body.Close()
				}
			}()
		},
	} {
		c := program(t, append(strings.Fields(verb), "--store", store)...)
		c.Env = append(os.Environ(), "TMPDIR="+temp)
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		ask(in, bufio.NewReader(out))
		var pids []int
		waitFor(t, "a process", func() bool { pids = answering(t, c.Process.Pid); return len(pids) == 1 })
		waitFor(t, "its files", func() bool {
			engines, _ := filepath.Glob(filepath.Join(temp, "*", "*", "engine"))
			return len(engines) == 1
		})
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
		waitFor(t, "the process's end", func() bool {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pids[0]))
			return err != nil || bytes.Contains(stat, []byte(") Z "))
		})
		again := program(t, "query", "--store", store, "SELECT 1")
		again.Env = c.Env
		if text, err := again.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("%s: %v is left, %v", verb, left, err)
		}
	}
}
