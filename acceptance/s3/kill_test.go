package s3

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// kills is how many verbs are killed.
var kills = flag.Int("kills", 0, "how many verbs TestKilledReaders kills: 8, or 500 with STACKMILL_S3_LONG=1, if 0")

// Whoever reads or maintains a store, on a file system or on S3, may be killed at any moment: the
// next one that looks, on the same machine, gets the right sums.
func TestKilledReaders(t *testing.T) {
	s := serve(t)
	n := *kills
	switch {
	case n == 0 && long:
		n = 500
	case n == 0:
		n = 8
	}
	const experiments = 3
	dir := t.TempDir()
	for n := range experiments {
		record(t, filepath.Join(dir, "some"), n)
	}
	m := s.machine()
	local := filepath.Join(t.TempDir(), "store")
	exported := filepath.Join(t.TempDir(), "summaries")
	stores := []string{store, local}
	for _, store := range stores {
		m.does("ingest", "--store", store, "--cache", "", filepath.Join(dir, "some"))
	}
	verbs := [][]string{
		{"query", "--format", "csv", sums}, {"report", "functions"}, {"check"}, {"check", "--repair"}, {"compact", "--keep", "0", "--purge"},
		{"label", "job-001.er", "kept=yes"}, {"forget", "job-002.er"}, {"experiments"}, {"export", "--summaries", "-o", exported},
	}
	random := rand.New(rand.NewPCG(uint64(n), 5))
	usual := map[string]time.Duration{} // of each verb
	killed := map[string]int{}
	for i := range n {
		store := stores[i%len(stores)]
		verb := verbs[(i/len(stores)+random.IntN(2))%len(verbs)]
		name := strings.Join(verb, " ")
		command := m.command(append(verb, "--store", store)...)
		began := time.Now()
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		most := usual[name]
		if most == 0 {
			most = time.Second
		}
		ending := time.AfterFunc(time.Duration(random.Int64N(int64(most))), func() { _ = command.Process.Kill() })
		if err := command.Wait(); err == nil {
			usual[name] = time.Since(began)
		} else if command.ProcessState.ExitCode() < 0 {
			killed[verb[0]]++
		}
		ending.Stop()
		_ = os.RemoveAll(exported)
		got := strings.ReplaceAll(m.does("query", "--store", store, "--format", "csv", sums), "\r", "")
		switch {
		case strings.HasSuffix(got, truth(0, experiments)):
		case verb[0] == "forget" && strings.HasSuffix(got, truth(0, experiments-1)):
			m.does("ingest", "--store", store, "--cache", "", "--forgotten", filepath.Join(dir, "some"))
		default:
			t.Fatalf("kill %d, %s of %s: %s", i, name, store, got)
		}
	}
	for _, store := range stores {
		if out := m.does("check", "--store", store); !strings.Contains(out, "nothing is wrong") {
			t.Errorf("%s: %s", store, out)
		}
	}
	s.has(store, 0, experiments)
	t.Logf("%d runs, killed %v", n, killed)
}
