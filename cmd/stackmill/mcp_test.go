package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"
	"testing"

	"stackmill/queries/storetest"
)

// agent is a client of the verb mcp.
type agent struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
	id  int
}

// connected starts the verb on a store and initializes a client.
func connected(t *testing.T, store string, flags ...string) *agent {
	requests, in := io.Pipe()
	out, responses := io.Pipe()
	done := make(chan int)
	go func() {
		done <- run(append([]string{"mcp", "--store", store}, flags...), requests, responses, io.Discard)
		responses.Close()
	}()
	t.Cleanup(func() {
		in.Close()
		if status := <-done; status != 0 {
			t.Errorf("status %d", status)
		}
	})
	a := &agent{t: t, in: in, out: bufio.NewReader(out)}
	hello := a.ask("initialize", map[string]any{"protocolVersion": "2025-03-26", "capabilities": map[string]any{}, "clientInfo": map[string]string{"name": "test", "version": "1"}})
	if v := hello["result"].(map[string]any)["protocolVersion"]; v != "2025-03-26" {
		t.Errorf("version %v", v)
	}
	fmt.Fprintln(a.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return a
}

// ask sends a request and returns the response, with its size as "bytes".
func (a *agent) ask(method string, params any) map[string]any {
	a.t.Helper()
	id := a.send(method, params)
	r := a.receive()
	if r["id"] != float64(id) {
		a.t.Fatalf("the response to %d is %v", id, r)
	}
	return r
}

// send sends a request and returns its id.
func (a *agent) send(method string, params any) int {
	a.id++
	line, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": a.id, "method": method, "params": params})
	fmt.Fprintf(a.in, "%s\n", line)
	return a.id
}

// receive returns the next response.
func (a *agent) receive() map[string]any {
	a.t.Helper()
	text, err := a.out.ReadString('\n')
	if err != nil {
		a.t.Fatal(err)
	}
	var r map[string]any
	if err := json.Unmarshal([]byte(text), &r); err != nil || r["jsonrpc"] != "2.0" {
		a.t.Fatalf("%v: %s", err, text)
	}
	r["bytes"] = len(text)
	return r
}

// call calls a tool, and returns its text, whether that is an error, and the response's size.
func (a *agent) call(tool string, arguments map[string]any) (text string, failed bool, bytes int) {
	a.t.Helper()
	r := a.ask("tools/call", map[string]any{"name": tool, "arguments": arguments})
	result, ok := r["result"].(map[string]any)
	if !ok {
		a.t.Fatalf("%s: %v", tool, r)
	}
	failed, _ = result["isError"].(bool)
	return result["content"].([]any)[0].(map[string]any)["text"].(string), failed, r["bytes"].(int)
}

// Every answer has a bounded size and says what it leaves out.
func TestAgents(t *testing.T) {
	a := connected(t, storetest.New(t, storetest.Two))
	for _, test := range []struct {
		tool      string
		arguments map[string]any
		want      []string
	}{
		{"experiments", nil, []string{`"rows_total":2,"rows_shown":2`, "monday/test.1.er"}},
		{"experiments", map[string]any{"select": "tuesday*/*"}, []string{`"rows_total":1,"rows_shown":1`}},
		{"report", nil, []string{"callers-callees"}},
		{"report", map[string]any{"view": "functions", "experiment": "monday/test.1.er", "limit": 2}, []string{
			`"total":80000000,"shown_percent":50,"unattributed_percent":25`, `"reason":"PC in no load object","load_object":"<Unknown>","percent":12.5`,
			`"rows_total":5,"rows_shown":2`, `["13","2310289846115063131","g","app"`}},
		{"report", map[string]any{"view": "call-tree", "experiment": "monday/test.1.er"}, []string{`"shown_percent":100`}},
		{"report", map[string]any{"view": "callers-callees", "function": "g"}, []string{`"total":80000000,"unattributed_percent"`}},
		{"query", map[string]any{"sql": "SELECT sum(exclusive) AS s FROM function_metrics"}, []string{"once per mode", `"rows_total":1`}},
		{"query", map[string]any{"sql": "SELECT repeat('x', 10_000) AS x, i FROM range(300) t(i)", "limit": 1000}, []string{`"rows_total":300,"rows_shown":`, "…"}},
		{"query", map[string]any{"sql": "SELECT i FROM range(2_000_000) t(i)"}, []string{`"rows_total":1048576,"rows_more":true,"rows_shown":50`}},
		{"query", map[string]any{"sql": "SELECT 4611686018427387904 AS big, 7::BIGINT AS function_id"}, []string{`["4611686018427387904","7"]`}},
		{"explain", nil, []string{"decode"}},
		{"explain", map[string]any{"stack": "1"}, nil},
		{"compare", map[string]any{"base": "monday/test.1.er", "test": "monday/test.1.er"}, []string{`"verdict"`}},
		{"report", map[string]any{"view": "functions", "experiment": "monday/test.1.er", "thread": 4712, "where": []string{"kind = 'clock'"}}, []string{
			`"filter":["kind = 'clock'","thread_id = 4712"]`, `"total":30000000,"filter_leaves_percent":37.5,"shown_percent":100`, `"g","app"`}},
		{"report", map[string]any{"view": "call-tree", "hide": "app", "mode": "expert", "between": []string{"1s,", "start"}}, nil},
		{"report", map[string]any{"view": "call-tree", "experiment": "monday/test.1.er", "api-only": "app"}, []string{
			`"hidden":["functions of app that others do not call: their time goes to their callers"]`, `"total":80000000,"shown_percent"`}},
		{"report", map[string]any{"view": "functions", "where": strings.Split(strings.Repeat("cpu >= 0 AND "+strings.Repeat("thread_id > 0 AND ", 40)+"pid > 0;", 30), ";")[:30]}, []string{"…"}},
		{"compare", map[string]any{"base": "monday/test.1.er", "test": "monday/test.1.er", "cpu": []int{0, 1}, "hide": "app"}, []string{
			`"filter":["cpu IN (0, 1)"]`, `"hidden":["functions of app: their time`, `"<Total>"`}},
	} {
		text, failed, bytes := a.call(test.tool, test.arguments)
		if failed && test.want != nil {
			t.Errorf("%s %v: %s", test.tool, test.arguments, text)
		}
		for _, want := range test.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s %v lacks %s:\n%s", test.tool, test.arguments, want, text)
			}
		}
		if bytes > defaultAnswer {
			t.Errorf("%s %v: %d bytes", test.tool, test.arguments, bytes)
		}
	}
}

// Warnings say what makes a comparison unfair.
func TestAgentsAreWarned(t *testing.T) {
	groups := storetest.Groups("clock", storetest.Vary(9, map[string]int{"f": 100, "g": 200}), storetest.Vary(9, map[string]int{"f": 100, "g": 220}))
	for k := range 9 {
		groups = strings.Replace(groups, fmt.Sprintf("  test-%d.er gprofng 1000ms", k), fmt.Sprintf("  test-%d.er perf 1000ms", k), 1)
	}
	text, failed, _ := connected(t, storetest.New(t, groups)).call("compare", map[string]any{"base": "base-*", "test": "test-*", "limit": 1})
	if failed || !strings.Contains(text, `"warnings":["the sides differ in recorded with: base gprofng  ; test perf `) {
		t.Error(text)
	}
}

// Wrong requests get short errors, and the next request is answered.
func TestAgentsMistakes(t *testing.T) {
	a := connected(t, storetest.New(t, storetest.Two), "--max-bytes", "1024")
	for _, test := range []struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		{"query", map[string]any{"sql": "COPY samples TO 'stolen.csv'"}, "stolen.csv"},
		{"query", map[string]any{"sql": "SELECT nonsense"}, "nonsense"},
		{"query", map[string]any{"sql": "SELECT '" + strings.Repeat("x", 5000) + "'::INTEGER"}, "…"},
		{"query", map[string]any{"sql": " ;"}, "no SQL"},
		{"query", map[string]any{"statement": "SELECT 1"}, "statement"},
		{"report", map[string]any{"view": "nonsense"}, "nonsense"},
		{"report", map[string]any{"metric": "totalcpu"}, "argument view is missing"},
		{"explain", map[string]any{"experiment": "monday/test.1.er"}, "experiment is given without stack"},
		{"report", map[string]any{"view": "functions", "experiment": "nonsense"}, "nonsense"},
		{"report", map[string]any{"view": "functions", "mode": "nonsense"}, "nonsense"},
		{"compare", map[string]any{"base": "monday/test.1.er"}, "test"},
		{"experiments", map[string]any{"limit": 0}, "limit"},
		{"query", map[string]any{"sql": "SELECT 1", "where": "cpu = 0"}, `query has no "where"`},
		{"report", map[string]any{"view": "functions", "where": "colour = 1"}, "a sample has no column"},
		{"report", map[string]any{"view": "functions", "hide": []string{"libq.so"}}, "no load object"},
		{"compare", map[string]any{"base": "monday/test.1.er", "test": "monday/test.1.er", "thread": "x"}, "Thread"},
	} {
		text, failed, bytes := a.call(test.tool, test.arguments)
		if !failed || !strings.Contains(text, test.want) || bytes > 1024 || strings.Contains(text, "--unsafe") {
			t.Errorf("%s %v: %v, %d bytes: %s", test.tool, test.arguments, failed, bytes, text)
		}
	}
	for method, params := range map[string]any{"nonsense": nil, "tools/call": map[string]any{"name": "nonsense"}} {
		if r := a.ask(method, params); r["error"] == nil {
			t.Errorf("%s: %v", method, r)
		}
	}
	fmt.Fprintln(a.in, "no JSON")
	if line, _ := a.out.ReadString('\n'); !strings.Contains(line, `"id":null`) {
		t.Errorf("no JSON: %s", line)
	}
	if text, failed, bytes := a.call("report", map[string]any{"view": "functions", "experiment": "monday/test.1.er"}); failed || bytes > 1024 {
		t.Errorf("%d bytes: %s", bytes, text)
	}
}

// Every parameter of every tool, as tools/list declares it, changes the answer or is refused: a
// parameter without effect would mislead.
func TestAgentsParameters(t *testing.T) {
	const one, other = "monday/test.1.er", "tuesday/test.1.er"
	asked := map[string]map[string]any{
		"experiments": {}, "explain": {}, "query": {"sql": "FROM range(3)"},
		"report": {"view": "functions"}, "compare": {"base": other, "test": other}, "digest": {},
	}
	others := map[string]any{
		"select": one, "experiment": one, "base": one, "test": one, "view": "pcs", "by": "line", "metric": "heapalloccnt", "mode": "machine", "function": "g",
		"order": "label=night", "series": "label=job", "since": "2026-01-09",
		"sort": "function", "sum": true, "limit": 1, "sql": "SELECT 1", "stack": "1",
		"where": "thread_id = 4712", "thread": 4712, "cpu": 1, "pid": 1, "between": "1s,", "hide": "app", "api-only": "app",
	}
	a := connected(t, storetest.New(t, storetest.Two))
	tools := a.ask("tools/list", nil)["result"].(map[string]any)["tools"].([]any)
	for _, listed := range tools {
		tool := listed.(map[string]any)
		name := tool["name"].(string)
		before, failed, _ := a.call(name, asked[name])
		if failed {
			t.Fatalf("%s: %s", name, before)
		}
		for parameter := range tool["inputSchema"].(map[string]any)["properties"].(map[string]any) {
			value, known := others[parameter]
			if !known {
				t.Errorf("%s: the test has no value for %s", name, parameter)
				continue
			}
			arguments := maps.Clone(asked[name])
			arguments[parameter] = value
			if after, _, _ := a.call(name, arguments); after == before {
				if name == "digest" && parameter == "limit" { // no change to limit: two experiments are too few
					continue
				}
				t.Errorf("%s: %s = %v changes nothing", name, parameter, value)
			}
		}
	}
	if len(tools) != len(asked) {
		t.Errorf("%d tools, want %d", len(tools), len(asked))
	}
}

// endlessSQL are statements that take unlimited time or memory; most never check whether to stop.
var endlessSQL = []string{
	"SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range + b.range = -1",
	"SELECT sleep_ms(600_000)",
	"SELECT length(repeat('x', 2_000_000_000))",
	"SELECT length(lpad('x', 2_000_000_000, 'y'))",
	"WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r",
	"SELECT list(i) FROM range(2_000_000_000) t(i)",
}

// Statements that do not stop are ended; the answer says so, and the next request is answered.
func TestAgentsEndless(t *testing.T) {
	a := connected(t, storetest.New(t, storetest.Two), "--timeout", "2s", "--memory", "128M")
	first := a.id + 1
	for _, statement := range endlessSQL {
		a.send("tools/call", map[string]any{"name": "query", "arguments": map[string]any{"sql": statement}})
	}
	for range endlessSQL {
		r := a.receive()
		text := fmt.Sprint(r["result"])
		if !strings.Contains(text, "the SQL did not end within") && !strings.Contains(text, "the SQL needs more memory") {
			t.Errorf("%s: %s", endlessSQL[int(r["id"].(float64))-first], text)
		}
	}
	a.timeless("SELECT 7 AS x")
}

// timeless retries a query until it is answered in time: the machine may be slow.
func (a *agent) timeless(statement string) {
	a.t.Helper()
	for range 20 {
		text, failed, _ := a.call("query", map[string]any{"sql": statement})
		if !failed {
			return
		}
		if !strings.Contains(text, "did not end within") {
			a.t.Fatal(text)
		}
	}
	a.t.Fatalf("%s is never answered", statement)
}

// The rows of a query are limited before they are computed.
func TestAgentsRows(t *testing.T) {
	text, failed, _ := connected(t, storetest.New(t, storetest.Two)).call("query", map[string]any{"sql": "SELECT a.range AS x, b.range AS x FROM range(10_000_000) a, range(10_000_000) b"})
	if failed || !strings.Contains(text, `"rows_total":1048576,"rows_more":true,"rows_shown":50,"columns":["x","x_1"]`) {
		t.Error(text)
	}
}

// While a call runs, others are answered. A canceled call is not answered, and its process ends.
func TestAgentsCancel(t *testing.T) {
	a := connected(t, storetest.New(t, storetest.Two))
	id := a.send("tools/call", map[string]any{"name": "query", "arguments": map[string]any{"sql": endlessSQL[0]}})
	waitFor(t, "a process", func() bool { return len(answering(t, os.Getpid())) == 1 })
	if r := a.ask("ping", nil); r["result"] == nil {
		t.Error(r)
	}
	fmt.Fprintf(a.in, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`+"\n", id)
	waitFor(t, "the process's end", func() bool { return len(answering(t, os.Getpid())) == 0 })
	if text, failed, _ := a.call("query", map[string]any{"sql": "SELECT 7 AS x"}); failed {
		t.Error(text)
	}
}

// Any line is answered, unless it is a notification, and the next request is answered, too.
func TestAgentsLines(t *testing.T) {
	a := connected(t, storetest.New(t, storetest.Two))
	for _, test := range []struct{ line, want string }{
		{`{"x":"` + strings.Repeat("y", 2_000_000) + `"}`, `"id":null,"error":{"code":-32600,"message":"the request has more than`},
		{`{`, `"id":null,"error":{"code":-32700`},
		{strings.Repeat("[", 20_000), `"id":null,"error":{"code":-32700`},
		{"\x00\xff", `"id":null,"error":{"code":-32700`},
		{`7`, `"id":null,"error":{"code":-32600`},
		{`null`, `"id":null,"error":{"code":-32600`},
		{`{"id":1}`, `"id":null,"error":{"code":-32600`},
		{`{"id":1,"method":7}`, `"id":null,"error":{"code":-32600`},
		{`{"id":null,"method":"ping"}`, `"id":null,"error":{"code":-32600`},
		{`{"id":true,"method":"ping"}`, `"id":null,"error":{"code":-32600`},
		{`{"id":{},"method":"ping"}`, `"id":null,"error":{"code":-32600`},
		{`{"id":123456789012345678901234567890,"method":"ping"}`, `"id":123456789012345678901234567890,"result":{}`},
		{`{"id":1e400,"method":"ping"}`, `"id":1e400,"result":{}`},
		{`{"id":"a\"b","method":"ping"}`, `"id":"a\"b","result":{}`},
		{`{"id":1,"method":"nonsense"}`, `"id":1,"error":{"code":-32601`},
		{`{"id":1,"method":"tools/call"}`, `"id":1,"error":{"code":-32602`},
		{`{"id":1,"method":"tools/call","params":[1]}`, `"id":1,"error":{"code":-32602`},
		{`{"id":1,"method":"tools/call","params":{"name":"query","arguments":[]}}`, `"isError":true`},
		{`[]`, `"id":null,"error":{"code":-32600`},
		{`[` + strings.Repeat(`{"id":1,"method":"ping"},`, 64) + `7]`, `"id":null,"error":{"code":-32600`},
		{`[{"id":1,"method":"ping"},{"method":"ping"},7]`, `[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":null,"error":{"code":-32600`},
		{`{"method":"ping"}`, ""},
		{`{"method":"nonsense","params":7}`, ""},
		{`{"method":"notifications/cancelled","params":{"requestId":{}}}`, ""},
		{`{"method":"notifications/cancelled","params":7}`, ""},
		{`{"id":1,"result":{}}`, ""},
		{`[{"method":"ping"}]`, ""},
		{" \t\r", ""},
	} {
		fmt.Fprintln(a.in, test.line)
		if test.want != "" {
			if line, err := a.out.ReadString('\n'); err != nil || !strings.Contains(line, test.want) {
				t.Errorf("%.100s: %.200s %v", test.line, line, err)
			}
		}
		if r := a.ask("ping", nil); r["result"] == nil {
			t.Errorf("after %.100s: %v", test.line, r)
		}
	}
}

// When the agent disconnects, its calls and the program end.
func TestAgentsGone(t *testing.T) {
	c := program(t, "mcp", "--store", storetest.New(t, storetest.Two))
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(in, `{"id":1,"method":"tools/call","params":{"name":"query","arguments":{"sql":"%s"}}}`+"\n", endlessSQL[0])
	waitFor(t, "a process", func() bool { return len(answering(t, c.Process.Pid)) == 1 })
	in.Close()
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}
