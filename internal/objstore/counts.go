package objstore

import (
	"net/http"
	"sync/atomic"
)

// counts counts a client's requests, which the storage provider bills.
type counts struct{ reads, writes, lists, removals, failed atomic.Int64 }

// Requests are numbers of requests, including retries.
type Requests struct {
	Reads    int64 `json:"reads"`    // GET and HEAD of objects
	Writes   int64 `json:"writes"`   // PUT and POST
	Lists    int64 `json:"lists"`    // GET of lists
	Removals int64 `json:"removals"` // DELETE, which costs nothing
	Failed   int64 `json:"failed"`   // requests without an answer, or with status 500 or more
}

// Requests returns the number of requests so far.
func (c *Client) Requests() Requests {
	n := c.counts
	return Requests{n.reads.Load(), n.writes.Load(), n.lists.Load(), n.removals.Load(), n.failed.Load()}
}

// countingTransport counts requests.
type countingTransport struct {
	http.RoundTripper
	*counts
}

func (t *countingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	switch {
	case r.Method == http.MethodDelete:
		t.removals.Add(1)
	case r.Method == http.MethodPut, r.Method == http.MethodPost:
		t.writes.Add(1)
	case r.URL.Query().Has("list-type"):
		t.lists.Add(1)
	default:
		t.reads.Add(1)
	}
	answer, err := t.RoundTripper.RoundTrip(r)
	if err != nil || answer.StatusCode >= http.StatusInternalServerError {
		t.failed.Add(1)
	}
	return answer, err
}
