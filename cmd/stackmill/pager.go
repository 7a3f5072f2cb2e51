//go:build cgo

package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"stackmill/internal/terminal"
)

// pager sends the standard output through a program that shows it page by page. The first write starts
// the program.
type pager struct {
	terminal *os.File
	command  string // command line for the shell
	input    *os.File
	process  *exec.Cmd
	failed   bool   // whether the program could not be started, so that the output goes to the terminal
	started  func() // called when the program was started
}

// Fd returns the file descriptor of the terminal, which has a width.
func (p *pager) Fd() uintptr { return p.terminal.Fd() }

// Write implements io.Writer. It discards output after the user has left the program.
func (p *pager) Write(text []byte) (int, error) {
	if p.process == nil && !p.failed {
		p.failed = p.start() != nil
	}
	if p.failed {
		return p.terminal.Write(text)
	}
	n, err := p.input.Write(text)
	if errors.Is(err, syscall.EPIPE) {
		return len(text), nil
	}
	return n, err
}

// start starts the program.
func (p *pager) start() error {
	reader, writer, err := os.Pipe()
	if err != nil {
		return err
	}
	defer reader.Close()
	c := exec.Command("/bin/sh", "-c", p.command)
	c.Stdin, c.Stdout, c.Stderr = reader, p.terminal, os.Stderr
	c.Env = os.Environ()
	if _, given := os.LookupEnv("LESS"); !given {
		c.Env = append(c.Env, "LESS=FRX")
	}
	if err := c.Start(); err != nil {
		return errors.Join(err, writer.Close())
	}
	p.input, p.process = writer, c
	p.started()
	return nil
}

// wait waits until the user has left the program. Its status says nothing about the output.
func (p *pager) wait() {
	if p.process != nil {
		_ = p.input.Close()
		_ = p.process.Wait()
	}
}

// pagerCommand returns the command of the pager: $STACKMILL_PAGER, $PAGER or less; "" for none.
func pagerCommand() string {
	for _, name := range []string{"STACKMILL_PAGER", "PAGER"} {
		if command, given := os.LookupEnv(name); given {
			if command = strings.TrimSpace(command); command == "cat" {
				return ""
			}
			return command
		}
	}
	if _, err := exec.LookPath("less"); err != nil {
		return ""
	}
	return "less -FRX"
}

// addPager wraps verbs that print tables: on a terminal, tables have colors, and a pager shows output
// that is longer than the terminal.
func (a *app) addPager(verbs ...*cobra.Command) []*cobra.Command {
	for _, c := range verbs {
		if c.Flags().Lookup("format") == nil || slices.Contains([]string{"query", "gate", "export"}, c.Name()) {
			continue
		}
		off := c.Flags().Bool("no-pager", false, "on a terminal: do not use $STACKMILL_PAGER, $PAGER or less")
		color := c.Flags().String("color", "auto", "auto (colors on a terminal, unless $NO_COLOR is set or $TERM is dumb), always or never")
		oneOf(c, "color", "choice", []string{"auto", "always", "never"})
		run := c.RunE
		c.RunE = func(cmd *cobra.Command, args []string) error {
			isTable := slices.Contains([]string{"table", "text"}, cmd.Flag("format").Value.String())
			a.Output.Colors = isTable && (*color == "always" || *color == "auto" && hasColors(a.Stdout))
			if isTable && !*off && !hasOutputFile(cmd) {
				defer a.startPager()()
			}
			return run(cmd, args)
		}
	}
	return verbs
}

// hasOutputFile reports whether the output goes to a file that the user named.
func hasOutputFile(cmd *cobra.Command) bool {
	output := cmd.Flag("output")
	return output != nil && output.Value.String() != ""
}

// hasColors reports whether an output is a terminal that shows colors, and the user has not turned
// these off (no-color.org).
func hasColors(out io.Writer) bool {
	return terminal.Is(out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && os.Getenv("TERM") != ""
}

// startPager sends the standard output through the pager, if it is a terminal and there is one. The
// returned function waits for the end of the pager.
func (a *app) startPager() (wait func()) {
	out, ok := a.Stdout.(*standardOutput)
	if !ok || !terminal.Is(out) {
		return func() {}
	}
	file, ok := out.to.(*os.File)
	command := pagerCommand()
	if !ok || command == "" {
		return func() {}
	}
	if words := strings.Fields(command); !strings.ContainsAny(words[0], "$`\"'=(") {
		if _, err := exec.LookPath(words[0]); err != nil {
			a.Warnf("no pager: %v (set $STACKMILL_PAGER, or use --no-pager)", err)
			return func() {}
		}
	}
	// Once the pager runs, the user ends it, also after ^C, which less handles itself.
	p := &pager{terminal: file, command: command, started: func() { a.endsItself.Store(true) }}
	out.to = p
	return func() {
		p.wait()
		out.to = file
	}
}
