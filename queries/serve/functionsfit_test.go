package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"stackmill/queries/storetest"
)

// If an estimate says that an answer with the functions of many experiments would be too large, the request is
// refused. Otherwise it is answered.
func TestFunctionsFit(t *testing.T) {
	nights := make([]map[string]int, estimateFrom)
	for i := range nights {
		nights[i] = map[string]int{"main": 10}
		for k := range 9 {
			nights[i][fmt.Sprintf("f%d", k)] = 10 + k
		}
	}
	s := start(t, storetest.New(t, storetest.Nights(nights)), nil)
	var rows []json.RawMessage
	if err := json.Unmarshal([]byte(s.get("/api/v1/functions?metric=all")), &rows); err != nil || len(rows) != estimateFrom*11 {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	text := s.get("/api/v1/functions?metric=all")
	s.Largest = len(text)
	for _, of := range []struct {
		query  string
		status int
		why    string
	}{
		{"limit=11", http.StatusOK, ""}, // as large as the answer without a limit, but not the same: that is cached
		{"limit=2", http.StatusOK, ""},
	} {
		if response, text := s.ask("GET", "/api/v1/functions?metric=all&"+of.query, ""); response.StatusCode != of.status {
			t.Errorf("%s: %s: %.200s", of.query, response.Status, text)
		}
	}
	s.Largest = len(text) / 4
	response, why := s.ask("GET", "/api/v1/functions?metric=m", "")
	if response.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(string(why), fmt.Sprintf("the functions of %d experiments are %d rows", estimateFrom, estimateFrom*11)) {
		t.Errorf("%s: %s", response.Status, why)
	}
	if response, why := s.ask("GET", "/api/v1/functions?metric=m&limit=1", ""); response.StatusCode != http.StatusOK {
		t.Errorf("with a limit: %s: %s", response.Status, why)
	}
}
