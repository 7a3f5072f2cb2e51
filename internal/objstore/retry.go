package objstore

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"

	"stackmill/internal/hosterr"
)

// Error says why an object could not be read or written.
type Error struct {
	Address Address
	Reason  error
	// Permanent means that retrying is useless: access is denied, the bucket does not exist.
	Permanent bool
	advice    string
}

func (e *Error) Error() string {
	if e.advice == "" {
		return fmt.Sprintf("%s: %v", e.Address, e.Reason)
	}
	return fmt.Sprintf("%s: %v (%s)", e.Address, e.Reason, e.advice)
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Reason }

// IsPermanent reports whether an error means that retrying is useless.
func IsPermanent(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Permanent
}

var (
	// ErrChanged means that an object was replaced while it was read.
	ErrChanged = errors.New("the object was replaced while it was read")
	// ErrTruncated means that an answer has fewer bytes than the object.
	ErrTruncated = errors.New("the answer ended early")
	// ErrShort means that an object ends before the requested range.
	ErrShort = errors.New("the object is shorter than it should be")
	// ErrExists means that another object has the name.
	ErrExists = errors.New("another object has this name")
	// errAnswer means that an answer has more than was requested.
	errAnswer = errors.New("the answer does not match the request")
)

// advices maps the server's error codes for permanent errors to what users can do.
var advices = map[string]string{
	"AccessDenied":                   "the credentials do not allow this: see AWS_PROFILE, AWS_ACCESS_KEY_ID and the bucket's policy",
	"InvalidAccessKeyId":             "the server does not know the credentials: see AWS_PROFILE, AWS_ACCESS_KEY_ID",
	"SignatureDoesNotMatch":          "the secret key is wrong: see AWS_SECRET_ACCESS_KEY",
	"AuthorizationHeaderMalformed":   "the bucket is in another region: set AWS_REGION",
	"PermanentRedirect":              "the bucket is in another region: set AWS_REGION",
	"NoSuchBucket":                   "make the bucket first, or see AWS_ENDPOINT_URL",
	"InvalidBucketName":              "a bucket cannot have this name",
	"RequestTimeTooSkewed":           "this machine's clock is wrong: set it",
	"ExpiredToken":                   "the credentials have expired: get new ones",
	"InvalidToken":                   "see AWS_SESSION_TOKEN",
	"NotImplemented":                 "the server lacks a feature that stores need, such as If-None-Match",
	"MethodNotAllowed":               "the server lacks a feature that stores need",
	"XMinioAdminBucketQuotaExceeded": "the bucket is full",
}

// The wait before another try is random, up to a limit that starts at firstWait and doubles with
// each try until it is longestWait.
const (
	firstWait   = 100 * time.Millisecond
	longestWait = 10 * time.Second
)

// noticeAfter is how long a request is retried before the user is notified.
var noticeAfter = 5 * time.Second // shorter in tests

const noticeInterval = 30 * time.Second

var notifier atomic.Pointer[func(string)]

// SetNotifier sets the function that receives notices. A notice is a message about storage that is
// no error, for example that a request has been retried for some seconds.
func SetNotifier(f func(string)) { notifier.Store(&f) }

// Notify sends a notice.
func Notify(message string) {
	if f := notifier.Load(); f != nil {
		(*f)(message)
	}
}

// notifyRetry sends a notice of a retried request, unless one was just sent for another request.
func (c *Client) notifyRetry(failed *Error, left time.Duration) {
	last, now := c.lastNotice.Load(), time.Now()
	if now.UnixNano()-last >= int64(noticeInterval) && c.lastNotice.CompareAndSwap(last, now.UnixNano()) {
		Notify(fmt.Sprintf("%v: trying again for %v (%s)", failed, left.Round(time.Second), limitVariable))
	}
}

// retry calls f until it succeeds, fails permanently, or the client's time limit is over.
func (c *Client) retry(ctx context.Context, at Address, f func(ctx context.Context) error) error {
	began := time.Now()
	wait := firstWait
	for n := 1; ; n++ {
		err := f(ctx)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return hosterr.New(&Error{Address: at, Reason: context.Cause(ctx)})
		case errors.Is(err, ErrExists), errors.Is(err, ErrChanged):
			return err
		}
		said := explain(at, err)
		said.Reason = c.redact(said.Reason)
		if said.Permanent || errors.Is(said, fs.ErrNotExist) {
			return said.result()
		}
		if errors.As(err, new(*os.PathError)) { // a local file
			return err
		}
		if time.Since(began)+wait > c.limit {
			said.advice = fmt.Sprintf("%d tries in %v; the same command may succeed later", n, time.Since(began).Round(time.Millisecond))
			return said.result()
		}
		if trying := time.Since(began); trying >= noticeAfter {
			c.notifyRetry(said, c.limit-trying)
		}
		select {
		case <-time.After(time.Duration(rand.Int64N(int64(wait)))):
		case <-ctx.Done():
		}
		wait = min(2*wait, longestWait)
	}
}

// result returns the error as a host error, unless it is a missing object.
func (e *Error) result() error {
	if errors.Is(e.Reason, fs.ErrNotExist) {
		return e
	}
	return hosterr.New(e)
}

// explain classifies an error as permanent or transient and adds advice. Unknown errors count as
// transient.
func explain(at Address, err error) *Error {
	if known := (*Error)(nil); errors.As(err, &known) {
		return known
	}
	answer := minio.ToErrorResponse(err)
	e := &Error{Address: at, Reason: err}
	switch {
	case answer.Code == "NoSuchKey", answer.Code == "NotFound", answer.StatusCode == http.StatusNotFound && answer.Code == "":
		e.Reason = fs.ErrNotExist
	case answer.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		e.Reason, e.Permanent = ErrShort, true
	case advices[answer.Code] != "":
		e.Permanent, e.advice = true, advices[answer.Code]
	case errors.Is(err, errForeign):
		e.Permanent, e.advice = true, "is a proxy or a login page in between? see AWS_ENDPOINT_URL"
	case errors.Is(err, errEndless), errors.Is(err, errNoProgress), errors.Is(err, errList), errors.Is(err, errAnswer):
		e.Permanent, e.advice = true, "see AWS_ENDPOINT_URL and the server's log"
	case errors.As(err, new(x509.UnknownAuthorityError)):
		e.Permanent, e.advice = true, "set AWS_CA_BUNDLE to the certificate of the authority that signed the server's certificate"
	case errors.As(err, new(x509.HostnameError)):
		e.Permanent, e.advice = true, "the certificate is for another host: see AWS_ENDPOINT_URL"
	case errors.As(err, new(*tls.CertificateVerificationError)), errors.As(err, new(tls.AlertError)):
		e.Permanent, e.advice = true, "the server's TLS cannot be used"
	case errors.As(err, new(tls.RecordHeaderError)), err != nil && strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		e.Permanent, e.advice = true, "the server does not speak TLS: write http:// in AWS_ENDPOINT_URL"
	case answer.StatusCode == http.StatusForbidden:
		e.Permanent, e.advice = true, advices["AccessDenied"]
	case answer.StatusCode == http.StatusNotFound:
		e.Permanent, e.advice = true, "see AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL and the bucket's name"
	case answer.StatusCode == http.StatusUnauthorized:
		e.Permanent, e.advice = true, advices["InvalidAccessKeyId"]
	case answer.StatusCode == http.StatusNotImplemented:
		e.Permanent, e.advice = true, advices["NotImplemented"]
	case answer.StatusCode/100 == 3:
		e.Permanent, e.advice = true, "the server redirects the request, which stackmill does not follow: see AWS_ENDPOINT_URL and AWS_REGION"
	case answer.StatusCode/100 == 4 && !transientStatuses[answer.StatusCode] && !transientCodes[answer.Code]:
		e.Permanent, e.advice = true, "the server refuses the request"
	}
	return e
}

// transientStatuses and transientCodes list the errors with status 400 to 499 that may pass: the
// request took too long, was damaged in transit, or conflicted with another one.
var (
	transientStatuses = map[int]bool{http.StatusRequestTimeout: true, http.StatusConflict: true, http.StatusTooEarly: true, http.StatusTooManyRequests: true}
	transientCodes    = map[string]bool{"RequestTimeout": true, "IncompleteBody": true, "BadDigest": true, "XAmzContentSHA256Mismatch": true, "SlowDown": true}
)

// redact removes credentials from an error, since a server may repeat everything that it received.
func (c *Client) redact(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	known, cerr := c.api.GetCreds()
	if cerr != nil {
		return err
	}
	text := err.Error()
	for _, secret := range []string{known.SecretAccessKey, known.SessionToken} {
		if secret != "" {
			text = strings.ReplaceAll(strings.ReplaceAll(text, secret, "[hidden]"), url.QueryEscape(secret), "[hidden]")
		}
	}
	if text == err.Error() {
		return err
	}
	return &redactedError{text, err}
}

// redactedError is an error without secrets in its text.
type redactedError struct {
	text  string
	cause error
}

func (e *redactedError) Error() string { return e.text }

func (e *redactedError) Unwrap() error { return e.cause }
