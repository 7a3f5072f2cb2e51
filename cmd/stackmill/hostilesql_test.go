package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"stackmill/queries/storetest"
)

// Secrets that no answer may contain: the text of a file, and of the program's environment.
const (
	fileSecret        = "hunter2"
	environmentSecret = "correct horse battery staple"
)

// door is a way in which other users send SQL: it returns the answer, or any error.
type door func(sql string) (string, error)

// Hostile SQL is refused at every door of real servers, which then answer as before: nothing is
// revealed, written, requested over the network, or left behind. STACKMILL_SOAK=1 tries all SQL at
// each door.
func TestHostileDoors(t *testing.T) {
	store, temp, outside := storetest.New(t, storetest.Two), t.TempDir(), t.TempDir()
	asked, address := listening(t)
	targets := storetest.Targets{Store: store, Secret: filepath.Join(outside, "secret.csv"), Address: address}
	if err := os.WriteFile(targets.Secret, []byte("word\n"+fileSecret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	environment := append(os.Environ(), "TMPDIR="+temp, "STACKMILL_SECRET="+environmentSecret)
	server, doors := serverDoors(t, store, environment)
	agent, input, ask := agentDoor(t, store, environment)
	doors["mcp"] = ask
	before := digests(t, store, outside)

	step := 60 // each answer needs a process
	if os.Getenv("STACKMILL_SOAK") != "" {
		step = 1
	}
	all := targets.HostileSQL()
	var tried atomic.Int64
	var running sync.WaitGroup
	first := 0
	for name, ask := range doors {
		from := first
		running.Go(func() { tried.Add(int64(tryDoor(t, name, ask, all, from, step))) })
		first += step / len(doors)
	}
	running.Wait()
	t.Logf("%d of %d texts tried at %d doors", tried.Load(), len(all), len(doors))

	for _, c := range []*exec.Cmd{server, agent} {
		if left := answering(t, c.Process.Pid); len(left) > 0 {
			t.Errorf("%s: processes %v are left", c.Args[1], left)
		}
	}
	if err := errors.Join(server.Process.Signal(syscall.SIGTERM), server.Wait(), input.Close(), agent.Wait()); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
	if d := cmp.Diff(before, digests(t, store, outside)); d != "" {
		t.Errorf("files are changed: %s", d)
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("%d connections to another server", n)
	}
}

// tryDoor sends every step-th text, and returns how many it has sent.
func tryDoor(t *testing.T, name string, ask door, all []string, from, step int) (tried int) {
	for i := from; i < len(all); i += step {
		answer, err := ask(all[i])
		if err == nil {
			t.Errorf("%s: admitted: %s: %.200s", name, all[i], answer)
		}
		tried++
		said := answer + fmt.Sprint(err)
		for _, secret := range []string{fileSecret, environmentSecret, "root:"} {
			if strings.Contains(said, secret) {
				t.Errorf("%s: %s: tells %s", name, all[i], secret)
			}
		}
	}
	if answer, err := ask("SELECT count(*)::INTEGER AS n FROM samples"); err != nil || !strings.Contains(answer, "11") {
		t.Errorf("%s: the usual question: %s, %v", name, answer, err)
	}
	return tried
}

// listening counts the connections to a server.
func listening(t *testing.T) (asked *atomic.Int64, address string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	asked = new(atomic.Int64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			asked.Add(1)
			c.Close()
		}
	}()
	return asked, l.Addr().String()
}

// digests returns the hashes of all files in folders, by path.
func digests(t *testing.T, dirs ...string) map[string]string {
	all := map[string]string{}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			all[path] = fmt.Sprintf("%x", sha256.Sum256(text))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// serverDoors starts a server and returns its doors: HTTP, and Flight SQL with and without a
// prepared statement.
func serverDoors(t *testing.T, store string, environment []string) (*exec.Cmd, map[string]door) {
	const token = "0123456789abcdef0123456789abcdef"
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	c := longProgram(t.Context(), t, "serve", "--store", store, "--timeout", "2m", "--listen", "127.0.0.1:0", "--flight", "127.0.0.1:0", "--token-file", file)
	c.Env = environment
	_, out := running(t, c)
	lines := make([]string, 2)
	for i, start := range []string{"listening on ", "Flight SQL on grpc://"} {
		line, err := out.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		lines[i] = strings.TrimPrefix(strings.TrimSpace(line), start)
	}
	driver, err := flightsql.NewClient(lines[1], nil, nil, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = driver.Close() })
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+token)
	return c, map[string]door{
		"http": func(sql string) (string, error) { return post(t, lines[0], token, sql) },
		"flight": func(sql string) (string, error) {
			info, err := driver.Execute(ctx, sql)
			return rowsOf(ctx, driver, info, err)
		},
		"flight, prepared": func(sql string) (string, error) {
			prepared, err := driver.Prepare(ctx, sql)
			if err != nil {
				return "", err
			}
			info, err := prepared.Execute(ctx)
			return rowsOf(ctx, driver, info, err)
		},
	}
}

// running starts a program and returns its standard input and output.
func running(t *testing.T, c *exec.Cmd) (io.WriteCloser, *bufio.Reader) {
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
	return in, bufio.NewReader(out)
}

// post sends SQL over HTTP.
func post(t *testing.T, server, token, sql string) (string, error) {
	body, _ := json.Marshal(map[string]string{"sql": sql})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server+"/api/v1/query", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Errorf("http: %s: %v", sql, err) // it did not answer
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s: %s", response.Status, text)
	}
	if response.StatusCode >= http.StatusInternalServerError {
		t.Errorf("http: %s: %v", sql, err)
	}
	return string(text), err
}

// rowsOf returns the rows that an info leads to, as JSON.
func rowsOf(ctx context.Context, c *flightsql.Client, info *flight.FlightInfo, err error) (rows string, _ error) {
	if err != nil {
		return "", err
	}
	r, err := c.DoGet(ctx, info.Endpoint[0].Ticket)
	if err != nil {
		return "", err
	}
	defer r.Release()
	for r.Next() {
		text, err := json.Marshal(r.RecordBatch())
		if err != nil {
			return "", err
		}
		rows += string(text)
	}
	return rows, r.Err()
}

// agentDoor starts the verb mcp and returns its door; closing the input ends the verb.
func agentDoor(t *testing.T, store string, environment []string) (*exec.Cmd, io.Closer, door) {
	c := longProgram(t.Context(), t, "mcp", "--store", store, "--timeout", "2m")
	c.Env = environment
	in, out := running(t, c)
	a := &agent{t: t, in: in, out: out}
	return c, in, func(sql string) (string, error) {
		text, failed, _ := a.call("query", map[string]any{"sql": sql})
		if failed {
			return "", errors.New(text)
		}
		return text, nil
	}
}
