package page

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// nginxConfig runs nginx as one process of the tests' user, with all its files in one folder.
const nginxConfig = `daemon off; master_process off; pid %[1]s/pid; error_log %[1]s/error.log warn;
events {}
http {
  access_log off;
  client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi; uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
  server {
    listen %[2]s;
    %[3]s
  }
}
`

// startNginx starts nginx with a server block of these directives, at an address from choosePort.
// nginx ends with the test program at the latest.
func startNginx(listen, directives string) (end func() error, err error) {
	dir, err := os.MkdirTemp("", "stackmill-nginx-")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, fmt.Appendf(nil, nginxConfig, dir, listen, directives), 0o600); err != nil {
		return nil, err
	}
	var said bytes.Buffer
	c := exec.Command("nginx", "-p", dir, "-c", file, "-e", filepath.Join(dir, "error.log"))
	c.Stderr = &said
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started, ended := make(chan error), make(chan struct{})
	go func() {
		runtime.LockOSThread() // nginx gets its signal when this thread ends
		err := c.Start()
		started <- err
		if err == nil {
			_ = c.Wait() // it is killed
		}
		close(ended)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	address, _, _ := bytes.Cut([]byte(listen), []byte(" "))
	for {
		conn, err := net.Dial("tcp", string(address))
		if err == nil {
			conn.Close()
			break
		}
		select {
		case <-ended:
			return nil, fmt.Errorf("nginx ended: %s", &said)
		case <-time.After(5 * time.Millisecond):
		}
	}
	return func() error {
		if err := c.Process.Kill(); err != nil {
			return err
		}
		<-ended
		return os.RemoveAll(dir)
	}, nil
}

// hasNginx reports whether nginx is installed; STACKMILL_REQUIRE_NGINX requires it.
func hasNginx() bool {
	_, err := exec.LookPath("nginx")
	return err == nil || os.Getenv("STACKMILL_REQUIRE_NGINX") != ""
}

// choosePort returns an address of this machine with a free port.
func choosePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
