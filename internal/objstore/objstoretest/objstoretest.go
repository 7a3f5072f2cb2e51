// Package objstoretest runs a real S3 server for tests.
package objstoretest

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// The server's version, bucket and credentials.
const (
	gateway = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"
	Bucket  = "store"
	User    = "test"
	Secret  = "testsecret"
)

// program builds the server once, and keeps it for later runs.
var program = sync.OnceValues(func() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	_, version, _ := strings.Cut(gateway, "@")
	dir := filepath.Join(cache, "stackmill-tests", "versitygw-"+version+"-"+runtime.GOARCH)
	binary := filepath.Join(dir, "versitygw")
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	own := fmt.Sprint(dir, ".", os.Getpid()) // several packages' tests may build it at the same time
	defer os.RemoveAll(own)
	build := exec.Command("go", "install", gateway)
	build.Env = append(os.Environ(), "GOBIN="+own, "GOFLAGS=-mod=mod -trimpath", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go install: %w\n%s", err, out)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	return binary, os.Rename(filepath.Join(own, "versitygw"), binary)
})

// Serve starts a server that ends with the test. Its buckets are folders in root.
func Serve(t testing.TB, root string) (address string) {
	t.Helper()
	binary, err := program()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, Bucket), 0o777); err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = free.Addr().String()
	free.Close()
	command := exec.Command(binary, "--port", address, "--quiet", "posix", root)
	command.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+User, "ROOT_SECRET_KEY="+Secret)
	var said strings.Builder
	command.Stdout, command.Stderr = &said, &said
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	for n := 0; ; n++ {
		answer, err := http.Get("http://" + address)
		if err == nil {
			answer.Body.Close()
			return address
		}
		if n == 200 {
			t.Fatalf("the server does not answer: %v\n%s", err, said.String())
		}
		time.Sleep(50 * time.Millisecond)
	}
}
