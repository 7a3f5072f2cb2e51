package objstore

import (
	"context"
	"strings"
	"testing"
)

// While requests wait for a server, the user learns why, once for all requests.
func TestTell(t *testing.T) {
	t.Setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1") // nobody listens there
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv(limitVariable, "300ms")
	usual := noticeAfter
	noticeAfter = 0
	defer func() {
		noticeAfter = usual
		SetNotifier(func(string) {})
	}()
	var heard []string
	SetNotifier(func(message string) { heard = append(heard, message) })
	c, err := Dial()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := c.Stat(context.Background(), Address{Bucket: "bucket", Key: "k"}); err == nil {
			t.Fatal("there is a server")
		}
	}
	if len(heard) != 1 || !strings.HasPrefix(heard[0], "s3://bucket/k: ") || !strings.Contains(heard[0], "trying again for") || !strings.Contains(heard[0], limitVariable) {
		t.Errorf("%q", heard)
	}
}
