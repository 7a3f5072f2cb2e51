package objstore

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync/atomic"
	"time"
)

// Errors for invalid answers: an answer may come from another program, be endless, or be too slow.
var (
	// errStalled means that almost no bytes arrived for a long time.
	errStalled = errors.New("the transfer stalled (STACKMILL_S3_TIMEOUT)")
	// errForeign means that the answer is not from an S3 server.
	errForeign = errors.New("the answer is not from S3-compatible storage")
	// errEndless means that an answer is longer than any valid one.
	errEndless = errors.New("the answer does not end")
	// errNoProgress means that a list does not end, because its pages repeat or are empty.
	errNoProgress = errors.New("the list does not end: the server repeats a page, or sends empty pages")
)

const (
	// minRate is the lowest rate, in bytes per second, at which a body may be sent or read.
	minRate = 256
	// maxAnswer is the maximum size of an answer that is not an object's content. A list of 1,000
	// keys of maximum length has 4 MB.
	maxAnswer = 16 << 20
)

// checkedTransport checks answers and limits their time.
type checkedTransport struct {
	http.RoundTripper
	timeout time.Duration
}

func (t *checkedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	r = r.WithContext(ctx)
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = t.watch(ctx, cancel, r.Body, false)
	}
	answer, err := t.RoundTripper.RoundTrip(r)
	if err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, errStalled) {
			err = cause
		}
		cancel(nil)
		return nil, err
	}
	answer.Body = t.watch(ctx, cancel, answer.Body, true)
	if err := checkAnswer(r, answer); err != nil {
		_ = answer.Body.Close() // the caller does not read it
		return nil, err
	}
	return answer, nil
}

// checkAnswer returns an error if an answer cannot belong to the request.
func checkAnswer(r *http.Request, answer *http.Response) error {
	query := r.URL.Query()
	done := answer.StatusCode == http.StatusOK || answer.StatusCode == http.StatusPartialContent
	switch {
	case !done:
	case query.Has("list-type"), r.Method == http.MethodPost:
		return checkXML(r.Context(), answer)
	case query.Has("location"):
	case r.Method == http.MethodPut && answer.Header.Get("ETag") == "", r.Method != http.MethodPut && answer.Header.Get("Last-Modified") == "":
		return errForeign
	case r.Method == http.MethodGet: // content, whose reader knows its size
		return nil
	}
	answer.Body = &limitedBody{answer.Body, maxAnswer}
	return nil
}

// checkXML reads and checks an answer in XML: a list, or the answer to a POST.
func checkXML(ctx context.Context, answer *http.Response) error {
	body := &limitedBody{answer.Body, maxAnswer}
	content, err := io.ReadAll(body)
	if err = errors.Join(err, body.Close()); err != nil {
		return truncated(err)
	}
	root := rootOf(content)
	switch p, list := ctx.Value(pagesKey{}).(*pageTracker); {
	case list && root == "ListBucketResult":
		if err := p.check(content); err != nil {
			return err
		}
	case !list && slices.Contains(answersToPost, root):
	default:
		return errForeign
	}
	answer.Body = io.NopCloser(bytes.NewReader(content))
	return nil
}

var answersToPost = []string{"DeleteResult", "InitiateMultipartUploadResult", "CompleteMultipartUploadResult", "Error"}

// rootOf returns the name of a document's root element; empty if there is none.
func rootOf(content []byte) string {
	d := xml.NewDecoder(bytes.NewReader(content))
	for {
		switch token, err := d.RawToken(); x := token.(type) {
		case xml.StartElement:
			return x.Name.Local
		default:
			if err != nil {
				return ""
			}
		}
	}
}

// pageTracker checks that the pages of a list make progress.
type pageTracker struct {
	token []byte // the last page's token for the next page
	empty int    // pages in a row without objects
}

type pagesKey struct{}

// maxEmptyPages is the most pages in a row that may be empty.
const maxEmptyPages = 100

// check returns an error if a page of a list shows no progress.
func (p *pageTracker) check(page []byte) error {
	_, rest, _ := bytes.Cut(page, []byte("<NextContinuationToken>"))
	token, _, _ := bytes.Cut(rest, []byte("</"))
	if len(token) > 0 && bytes.Equal(token, p.token) {
		return errNoProgress
	}
	if p.token = bytes.Clone(token); bytes.Contains(page, []byte("<Contents")) {
		p.empty = 0
	} else if p.empty++; p.empty > maxEmptyPages {
		return errNoProgress
	}
	return nil
}

// limitedBody is a body that fails beyond a number of bytes.
type limitedBody struct {
	io.ReadCloser
	left int64
}

func (b *limitedBody) Read(p []byte) (n int, err error) {
	if b.left < 0 {
		return 0, errEndless
	}
	n, err = b.ReadCloser.Read(p[:min(int64(len(p)), b.left+1)])
	if b.left -= int64(n); b.left < 0 {
		return n, errEndless
	}
	return n, err
}

// stallReader is a body that cancels its request if it is too slow.
type stallReader struct {
	io.ReadCloser
	ctx     context.Context
	cancel  context.CancelCauseFunc
	timeout time.Duration
	last    bool         // closing the body ends the whole request
	passed  atomic.Int64 // bytes since the last check
	timer   *time.Timer
}

func (t *checkedTransport) watch(ctx context.Context, cancel context.CancelCauseFunc, body io.ReadCloser, last bool) *stallReader {
	b := &stallReader{ReadCloser: body, ctx: ctx, cancel: cancel, timeout: t.timeout, last: last}
	b.timer = time.AfterFunc(t.timeout, b.checkRate)
	return b
}

// checkRate cancels a request whose body was too slow since the last check.
func (b *stallReader) checkRate() {
	if float64(b.passed.Swap(0)) < minRate*b.timeout.Seconds() {
		b.cancel(errStalled)
		return
	}
	b.timer.Reset(b.timeout)
}

func (b *stallReader) Read(p []byte) (n int, err error) {
	n, err = b.ReadCloser.Read(p)
	b.passed.Add(int64(n))
	if err != nil {
		b.timer.Stop()
		if cause := context.Cause(b.ctx); errors.Is(cause, errStalled) {
			err = cause
		}
	}
	return n, err
}

func (b *stallReader) Close() error {
	b.timer.Stop()
	err := b.ReadCloser.Close()
	if b.last {
		b.cancel(nil)
	}
	return err
}
