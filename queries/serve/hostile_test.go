package serve

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"stackmill/queries/storetest"
)

// hostileValues are values of parameters that are invalid, or that have a special meaning in patterns, SQL or
// numbers.
var hostileValues = []string{
	"", " ", "[", "a[b", "[a-", "*[", "x=[", "host=[", `\`, `a\`, "'", `"`, "''; DROP VIEW functions; --", "%", "%00", "\x00", "\xff\xfe", "\n", "\u202e",
	"-1", "0", "1.5", "NaN", "Inf", "1e309", "99999999999999999999999", "-9223372036854775808", "0x10", "(", "(((", "a{99999}", "*", "?", ",", "=", "/", "../../etc/passwd",
	strings.Repeat("[", 3000), strings.Repeat("a,", 3000),
}

// No value of any parameter makes the server fail. Either the value is accepted, or the answer says that it is
// invalid.
func TestHostileValues(t *testing.T) {
	s := start(t, storetest.New(t, storetest.Two), nil)
	required := map[string]string{"base": "monday/test.1.er", "test": "monday/test.1.er", "as": "folded", "name": "functions", "search": "main",
		"experiment": "monday/test.1.er", "type": "{structure:a}", "process": "1", "address": "0x7000", "kind": "file", "item": "a.txt", "thread": "4711", "at": "17"}
	asked := 0
	for i := range endpoints {
		e := &endpoints[i]
		if e.method != http.MethodGet {
			continue
		}
		for _, p := range e.parameters {
			for n, value := range hostileValues {
				if p.name == "where" && n%8 != 0 { // only some: each starts a process
					continue
				}
				query := url.Values{}
				for _, other := range e.parameters {
					if other.required {
						query.Set(other.name, required[other.name])
					}
				}
				query.Set(p.name, value)
				at := strings.ReplaceAll(e.path, "{name}", required["name"]) + "?" + query.Encode()
				response, text := s.ask(http.MethodGet, at, "")
				if asked++; response.StatusCode >= http.StatusInternalServerError {
					t.Errorf("%.300s: %s %.300s", at, response.Status, text)
				}
			}
		}
	}
	if asked < 1000 {
		t.Errorf("only %d requests", asked)
	}
}
