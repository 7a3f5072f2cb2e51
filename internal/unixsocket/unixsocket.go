// Package unixsocket listens on Unix sockets to which only their owner can connect.
package unixsocket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

// Listen listens on a Unix socket and returns its absolute path. It replaces the socket of a server
// that was killed.
func Listen(ctx context.Context, path string) (net.Listener, string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, "", err
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil, "", err
	}
	defer folder.Close()
	about, err := folder.Stat()
	if err != nil {
		return nil, "", err
	}
	if about.Mode()&0o002 != 0 && about.Mode()&fs.ModeSticky == 0 {
		return nil, "", fmt.Errorf("anybody can replace a socket in %s (choose a folder that only you can write to)", folder.Name())
	}
	// The lock keeps two servers that start at once from removing each other's socket. Some file
	// systems, such as NFS, cannot lock a folder.
	_ = syscall.Flock(int(folder.Fd()), syscall.LOCK_EX)
	if err := removeStale(ctx, path); err != nil {
		return nil, "", err
	}
	before := syscall.Umask(0o177) // so that others can never connect, not even at first
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	syscall.Umask(before)
	if err == nil {
		if err = os.Chmod(path, 0o600); err != nil { // default ACLs of the folder replace the umask
			err = errors.Join(err, l.Close())
		}
	}
	if err != nil {
		return nil, "", err
	}
	return l, path, nil
}

// removeStale removes a socket on which nobody listens.
func removeStale(ctx context.Context, path string) error {
	about, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case about.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s exists and is not a socket (choose another path)", path)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		conn.Close()
		return fmt.Errorf("a server listens on %s (stop it, or choose another path)", path)
	case !errors.Is(err, syscall.ECONNREFUSED):
		return err
	}
	return os.Remove(path)
}
