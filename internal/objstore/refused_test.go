package objstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// answering makes a client of a server with one answer to all requests, and counts the requests.
func answering(t *testing.T, answer http.HandlerFunc) (*Client, *atomic.Int64) {
	t.Helper()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	return dialed(t, server.URL), &asked
}

func dialed(t *testing.T, url string) *Client {
	t.Helper()
	t.Setenv("AWS_ENDPOINT_URL_S3", url)
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secretsecret")
	t.Setenv("AWS_SESSION_TOKEN", "token/of+the=session")
	t.Setenv(limitVariable, "400ms")
	c, err := Dial()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var object = Address{Bucket: "bucket", Key: "k"}

// Permanent errors are not retried; errors that may pass are.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		status int
		code   string
		again  bool
	}{
		{301, "PermanentRedirect", false}, {307, "TemporaryRedirect", false}, {307, "", false},
		{400, "AuthorizationHeaderMalformed", false}, {400, "ExpiredToken", false}, {400, "InvalidArgument", false}, {400, "KeyTooLongError", false}, {400, "", false},
		{400, "RequestTimeout", true}, {400, "IncompleteBody", true}, {400, "BadDigest", true},
		{401, "", false}, {403, "AccessDenied", false}, {403, "InvalidAccessKeyId", false}, {403, "SignatureDoesNotMatch", false}, {403, "RequestTimeTooSkewed", false}, {403, "", false},
		{404, "NoSuchBucket", false}, {404, "NoSuchKey", false}, {405, "MethodNotAllowed", false}, {408, "", true}, {409, "ConditionalRequestConflict", true},
		{411, "MissingContentLength", false}, {416, "InvalidRange", false}, {429, "TooManyRequests", true},
		{500, "InternalError", true}, {501, "NotImplemented", false}, {502, "", true}, {503, "SlowDown", true}, {504, "", true},
	} {
		t.Run(fmt.Sprint(c.status, " ", c.code), func(t *testing.T) {
			client, asked := answering(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				if c.code != "" {
					fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no</Message></Error>", c.code)
				}
			})
			if _, err := client.Read(context.Background(), object, 1<<20); err == nil || asked.Load() > 1 != c.again {
				t.Errorf("%d requests: %v", asked.Load(), err)
			}
		})
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	secure.Config.ErrorLog, plain.Config.ErrorLog = nil, nil
	for name, url := range map[string]string{"no TLS": strings.Replace(plain.URL, "http:", "https:", 1), "certificate of nobody": secure.URL} {
		t.Run(name, func(t *testing.T) {
			client := dialed(t, url)
			if _, err := client.Read(context.Background(), object, 1); err == nil || client.Requests().Reads != 1 || !IsPermanent(err) {
				t.Errorf("%d requests: %v", client.Requests().Reads, err)
			}
		})
	}
}

// Secrets that a server repeats in its answer are not shown.
func TestSecretsAreHidden(t *testing.T) {
	client, _ := answering(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, "<Error><Code>AccessDenied</Code><Message>token %s, secretsecret</Message></Error>", r.Header.Get("X-Amz-Security-Token"))
	})
	_, err := client.Stat(context.Background(), object)
	if _, rerr := client.Read(context.Background(), object, 1); rerr != nil {
		err = errors.Join(err, rerr)
	}
	if text := fmt.Sprint(err); strings.Contains(text, "of+the=session") || strings.Contains(text, "secretsecret") || !strings.Contains(text, "[hidden]") {
		t.Error(text)
	}
}

// No request is sent for an invalid bucket name.
func TestBucketNames(t *testing.T) {
	for _, name := range []string{"ab", "a", strings.Repeat("x", 64), "-abc", "abc-", "a..b", "192.168.0.1", "a b c", "abc\n", "ä-bucket"} {
		if a, err := Parse(Scheme + name + "/prefix"); err == nil || !strings.Contains(err.Error(), "name of a bucket") {
			t.Errorf("%q: %v, %v", name, a, err)
		}
	}
	for _, name := range []string{"abc", "my-bucket.2026", "Legacy_Bucket", strings.Repeat("x", 63)} {
		if _, err := Parse(Scheme + name); err != nil {
			t.Error(err)
		}
	}
}

// An answer that is not from an S3 server never counts as success, also not for a write.
func TestForeignAnswer(t *testing.T) {
	client, asked := answering(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>Log in</html>") })
	errs := map[string]error{
		"put":    client.Put(context.Background(), object, []byte("x")),
		"remove": client.Remove(context.Background(), "bucket", []string{"k"}),
		"list":   client.List(context.Background(), object, 10, func(Object) error { return nil }),
	}
	_, errs["create"] = client.Create(context.Background(), object, []byte("x"))
	_, errs["stat"] = client.Stat(context.Background(), object)
	_, errs["read"] = client.Read(context.Background(), object, 100)
	for name, err := range errs {
		if !errors.Is(err, errForeign) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := asked.Load(); n > int64(len(errs))+1 {
		t.Errorf("%d requests", n)
	}
}
