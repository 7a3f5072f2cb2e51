//go:build cgo

package main

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

// listenUnix listens on a Unix socket that only its owner can open, and returns its absolute
// path. It takes the place of a socket that a server left which was killed.
func listenUnix(ctx context.Context, path string) (net.Listener, string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, "", err
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil, "", fmt.Errorf("--unix: %w", err)
	}
	defer folder.Close()
	about, err := folder.Stat()
	if err != nil {
		return nil, "", fmt.Errorf("--unix: %w", err)
	}
	if about.Mode()&0o002 != 0 && about.Mode()&fs.ModeSticky == 0 {
		return nil, "", fmt.Errorf("--unix: anybody can put another socket into %s (choose a folder that only you can write to)", folder.Name())
	}
	// Two servers that start at once look one after the other. Some file systems, such as NFS,
	// cannot lock a folder.
	_ = syscall.Flock(int(folder.Fd()), syscall.LOCK_EX)
	if err := removeStale(ctx, path); err != nil {
		return nil, "", err
	}
	before := syscall.Umask(0o177) // there is no moment at which others could connect
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	syscall.Umask(before)
	if err == nil {
		if err = os.Chmod(path, 0o600); err != nil { // default ACLs of the folder take the place of the umask
			err = errors.Join(err, l.Close())
		}
	}
	if err != nil {
		return nil, "", fmt.Errorf("--unix: %w", err)
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
		return fmt.Errorf("--unix: %w", err)
	case about.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("--unix: %s is there and is not a socket (choose another path)", path)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		conn.Close()
		return fmt.Errorf("--unix: a server listens on %s (stop it, or choose another path)", path)
	case !errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("--unix: %w", err)
	}
	return os.Remove(path)
}
