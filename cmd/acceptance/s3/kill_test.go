package s3

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// kills is how many verbs TestKilledReaders kills.
var kills = flag.Int("kills", 0, "how many verbs TestKilledReaders kills: 8, or 500 with STACKMILL_S3_LONG=1, if 0")

// killedExperiments is the number of experiments in the test's stores.
const killedExperiments = 3

// killedVerb is a verb to kill.
type killedVerb struct {
	words []string
	ask   func(in io.Writer, out *bufio.Reader) (answers []string) // sends requests, if the verb answers until it ends
}

// killer kills verbs of a machine at random moments.
type killer struct {
	*machine
	random *rand.Rand
	temp   string                   // the machine's folder of temporary files
	usual  map[string]time.Duration // usual running time, by verb
	killed map[string]int
}

// A process that reads or maintains a store, on a file system or on S3, may be killed at any
// moment. So may a server while it answers requests. The next reader on the same machine gets the
// right sums, and no process and no temporary file is left.
func TestKilledReaders(t *testing.T) {
	s := serve(t)
	n := *kills
	switch {
	case n == 0 && long:
		n = 500
	case n == 0:
		n = 8
	}
	dir := t.TempDir()
	for n := range killedExperiments {
		record(t, filepath.Join(dir, "some"), n)
	}
	temp := t.TempDir()
	k := &killer{s.machine("TMPDIR=" + temp), rand.New(rand.NewPCG(uint64(n), 5)), temp, map[string]time.Duration{}, map[string]int{}}
	stores := []string{store, filepath.Join(t.TempDir(), "store")}
	for _, store := range stores {
		k.does("ingest", "--store", store, "--cache", "", filepath.Join(dir, "some"))
	}
	exported, socket := filepath.Join(t.TempDir(), "summaries"), filepath.Join(t.TempDir(), "socket")
	plain := func(words ...string) killedVerb { return killedVerb{words: words} }
	verbs := []killedVerb{
		{[]string{"serve", "--unix", socket}, func(_ io.Writer, out *bufio.Reader) []string { return askServer(socket, out) }}, plain("query", "--format", "csv", sums),
		{[]string{"mcp"}, askAgent}, plain("compact", "--keep", "0", "--purge"), plain("label", "job-001.er", "kept=yes"), plain("report", "functions"), plain("forget", "job-002.er"),
		plain("check", "--repair"), plain("export", "--summaries", "-o", exported), plain("compare", "--base", "job-000.er", "--test", "job-001.er"),
		plain("gate", "--base", "job-000.er", "--test", "job-001.er", "--junit", filepath.Join(temp, "..", "gate.xml")), plain("report", "trend"), plain("experiments"), plain("check"),
	}
	for i := range n {
		verb, store := verbs[i%len(verbs)], stores[(i/len(verbs)+i)%len(stores)]
		k.kill(verb, store)
		_ = os.RemoveAll(exported)
		got := strings.ReplaceAll(k.does("query", "--store", store, "--format", "csv", sums), "\r", "")
		switch {
		case strings.HasSuffix(got, truth(0, killedExperiments)):
		case verb.words[0] == "forget" && strings.HasSuffix(got, truth(0, killedExperiments-1)):
			k.does("ingest", "--store", store, "--cache", "", "--forgotten", filepath.Join(dir, "some"))
		default:
			t.Fatalf("kill %d, %s of %s: %s", i, verb.words, store, got)
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Fatalf("kill %d, %s of %s: %v is left, %v", i, verb.words, store, left, err)
		}
	}
	for _, store := range stores {
		if out := k.does("check", "--store", store); !strings.Contains(out, "nothing is wrong") {
			t.Errorf("%s: %s", store, out)
		}
	}
	s.has(store, 0, killedExperiments)
	t.Logf("%d runs, killed %v", n, k.killed)
}

// kill runs a verb on a store and kills it at a random moment of its usual time, if it is still
// running. It returns when the verb's child processes have ended, too.
func (k *killer) kill(verb killedVerb, store string) {
	k.Helper()
	name := strings.Join(verb.words, " ")
	command := k.command(append(verb.words, "--store", store)...)
	in, ierr := command.StdinPipe()
	out, oerr := command.StdoutPipe()
	if ierr != nil || oerr != nil {
		k.Fatal(ierr, oerr)
	}
	began := time.Now()
	if err := command.Start(); err != nil {
		k.Fatal(err)
	}
	most := k.usual[name]
	if most == 0 {
		most = time.Second
	}
	ending := time.AfterFunc(time.Duration(k.random.Int64N(int64(most))), func() { _ = command.Process.Kill() })
	if verb.ask != nil {
		for _, answer := range verb.ask(in, bufio.NewReader(out)) {
			if !strings.Contains(strings.ReplaceAll(answer, "\r", ""), truth(0, killedExperiments)) {
				k.Errorf("%s of %s answers %s", name, store, answer)
			}
		}
		if ending.Stop() {
			k.usual[name] = time.Since(began)
			_ = command.Process.Kill()
		}
	}
	_, _ = io.Copy(io.Discard, out)
	_ = command.Wait()
	ending.Stop()
	if command.ProcessState.ExitCode() < 0 {
		k.killed[verb.words[0]]++
	} else {
		k.usual[name] = time.Since(began)
	}
	for n := 0; ; n++ {
		left := k.processes()
		if left == nil {
			return
		}
		if n == 1000 {
			k.Fatalf("%s of %s: processes %v are left", name, store, left)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// processes returns the processes that use the machine's folder of temporary files.
func (k *killer) processes() (pids []string) {
	all, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is right
	for _, path := range all {
		environment, _ := os.ReadFile(path) // the process may have ended
		if bytes.Contains(environment, []byte("TMPDIR="+k.temp)) {
			pids = append(pids, filepath.Base(filepath.Dir(path)))
		}
	}
	return pids
}

// askServer queries a server on a socket in several ways at once, and returns the sums in its
// answers. The server may be killed meanwhile.
func askServer(socket string, out *bufio.Reader) (answers []string) {
	if _, err := out.ReadString('\n'); err != nil { // the line in which the server says where it listens
		return nil
	}
	client := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
		DisableKeepAlives: true,
	}}
	ask := func(path string, body []byte) (text []byte, ok bool) {
		method := http.MethodGet
		if body != nil {
			method = http.MethodPost
		}
		r, err := http.NewRequest(method, "http://localhost"+path, bytes.NewReader(body))
		if err != nil {
			return nil, false
		}
		r.Header.Set("Content-Type", "application/json")
		response, err := client.Do(r)
		if err != nil {
			return nil, false
		}
		defer response.Body.Close()
		text, err = io.ReadAll(response.Body)
		return text, err == nil && response.StatusCode == http.StatusOK
	}
	var asked sync.WaitGroup
	for _, path := range []string{"/", "/api/v1/flamegraph", "/api/v1/trend"} {
		asked.Go(func() { ask(path, nil) })
	}
	asked.Go(func() {
		body, _ := json.Marshal(map[string]string{"sql": sums, "format": "csv"})
		if text, ok := ask("/api/v1/query", body); ok {
			answers = []string{string(text)}
		}
	})
	asked.Wait()
	return answers
}

// askAgent sends two queries at once to the verb mcp, and returns the sums in its answers. The verb
// may be killed meanwhile.
func askAgent(in io.Writer, out *bufio.Reader) (answers []string) {
	statement, _ := json.Marshal(fmt.Sprintf("SELECT 'experiment,bytes' || chr(10) || string_agg(experiment || ',' || bytes || chr(10), '' ORDER BY experiment) AS a FROM (%s)", sums))
	for id, call := range []string{`{"name":"query","arguments":{"sql":` + string(statement) + `}}`, `{"name":"report","arguments":{"view":"functions","experiment":"job-001.er"}}`} {
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`+"\n", id, call)
	}
	for range 2 {
		line, err := out.ReadString('\n')
		if err != nil {
			return answers
		}
		var answer struct {
			ID     int `json:"id"`
			Result struct {
				Content []struct {
					Text string `json:"text"`
				} `json:"content"`
			} `json:"result"`
		}
		if json.Unmarshal([]byte(line), &answer) == nil && answer.ID == 0 && len(answer.Result.Content) > 0 {
			answers = append(answers, strings.ReplaceAll(answer.Result.Content[0].Text, `\n`, "\n"))
		}
	}
	return answers
}
