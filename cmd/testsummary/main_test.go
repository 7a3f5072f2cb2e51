package main

import (
	"strings"
	"testing"
)

// The summary does not show tests that passed. It shows all output of failed tests, the reasons of
// skipped tests, and the times of slow tests.
func TestSummary(t *testing.T) {
	const in = `{"Action":"run","Package":"stackmill/a","Test":"TestGood"}
{"Action":"output","Package":"stackmill/a","Test":"TestGood","Output":"noise\n"}
{"Action":"pass","Package":"stackmill/a","Test":"TestGood","Elapsed":0.5}
{"Action":"pass","Package":"stackmill/a","Test":"TestSlow/part","Elapsed":11}
{"Action":"pass","Package":"stackmill/a","Test":"TestSlow","Elapsed":12.34}
{"Action":"output","Package":"stackmill/a","Test":"TestTool","Output":"=== RUN   TestTool\n"}
{"Action":"output","Package":"stackmill/a","Test":"TestTool","Output":"    a_test.go:7: no objdump\n"}
{"Action":"skip","Package":"stackmill/a","Test":"TestTool"}
{"Action":"output","Package":"stackmill/a","Test":"TestBad","Output":"    a_test.go:9: wrong\n"}
{"Action":"fail","Package":"stackmill/a","Test":"TestBad","Elapsed":100}
{"Action":"output","Package":"stackmill/a","Test":"TestStuck","Output":"=== RUN   TestStuck\n"}
{"Action":"output","Package":"stackmill/a","Output":"FAIL\tstackmill/a\t0.1s\n"}
{"Action":"fail","Package":"stackmill/a","Elapsed":113.2}
{"Action":"pass","Package":"stackmill/c","Elapsed":0.9}
{"ImportPath":"stackmill/b","Action":"build-output","Output":"b.go:1: syntax error\n"}
no JSON at all
`
	const want = `    a_test.go:9: wrong
FAIL	stackmill/a	0.1s
b.go:1: syntax error
no JSON at all
=== RUN   TestStuck

1 tests were skipped
  a.TestTool: no objdump

The slowest packages, in seconds
   113.2  a

The slowest tests, in seconds
   100.0  a.TestBad
    12.3  a.TestSlow
`
	var out strings.Builder
	if err := summarize(strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
