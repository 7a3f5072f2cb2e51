//go:build cgo

package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/peterh/liner"

	"stackmill/internal/terminal"
	"stackmill/queries"
)

const promptHelp = `SQL ends with a semicolon; it may take several lines.
  .tables        the views and tables
  .schema NAME   the columns of one
  .help          this text (also help)
  .quit          end (also exit, quit, Ctrl-D)
Ctrl-C drops what is typed, or stops the running query. Tab completes names.
`

// lineReader reads lines typed by people.
type lineReader interface {
	Prompt(string) (string, error)
	AppendHistory(string)
}

// Prompt runs SQL typed on the terminal, and keeps the history from run to run.
func (c *Console) Prompt() error {
	l := liner.NewLiner()
	defer l.Close()
	l.SetCtrlCAborts(true)
	l.SetMultiLineMode(true) // wrap lines that are longer than the terminal is wide
	words := completions()
	l.SetWordCompleter(func(line string, pos int) (string, []string, string) {
		return complete(words, line, pos)
	})
	history := historyFile()
	if f, err := os.Open(history); err == nil {
		_, _ = l.ReadHistory(f) // do without a damaged history
		f.Close()
	}
	_ = c.Printf("stackmill SQL over %s (help for help, exit to end)\n", c.Store)
	err := c.loop(l)
	if werr := writeHistory(l, history); werr != nil {
		c.Warnf("query: the history is not kept: %v", werr)
	}
	return err
}

// loop reads and runs statements until the input ends.
func (c *Console) loop(lines lineReader) error {
	var statement string
	for {
		mark := "sql> "
		if statement != "" {
			mark = "...> "
		}
		line, err := lines.Prompt(mark)
		switch {
		case errors.Is(err, liner.ErrPromptAborted):
			statement = ""
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("query: %w", err)
		}
		if command, is := commandOf(line); is && statement == "" {
			lines.AppendHistory(line)
			if c.command(command) {
				return nil
			}
			continue
		}
		statement = strings.TrimSpace(statement + "\n" + line)
		if !strings.HasSuffix(statement, ";") {
			continue
		}
		lines.AppendHistory(strings.Join(strings.Fields(statement), " "))
		if c.runTyped(statement); c.stuck {
			return errors.New("query: the statement could not be stopped (start the program again)")
		}
		statement = ""
	}
}

// runTyped runs one statement; Ctrl-C stops it, not the program.
func (c *Console) runTyped(statement string) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := c.Run(ctx, statement, "table", "")
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	if err != nil {
		c.Messagef("%v\n", err)
	}
}

// commandOf returns the line as a command that starts with a dot, and whether it is one. It also
// accepts words that people try first, such as help. No SQL statement begins with either.
func commandOf(line string) (string, bool) {
	line = strings.TrimSpace(line)
	switch word := strings.TrimRight(strings.ToLower(line), "; "); word {
	case "help", "exit", "quit":
		return "." + word, true
	case "?":
		return ".help", true
	}
	return line, strings.HasPrefix(line, ".")
}

// command runs a command and reports whether to quit.
func (c *Console) command(line string) bool {
	words := strings.Fields(line)
	switch {
	case words[0] == ".quit" || words[0] == ".exit":
		return true
	case words[0] == ".tables":
		c.listTables()
	case words[0] == ".schema" && len(words) == 2:
		c.describe(words[1])
	default:
		_ = c.Printf(promptHelp)
	}
	return false
}

func relations() (list []queries.Relation) {
	views, _ := queries.Views()
	for _, v := range views {
		list = append(list, queries.Relation{Name: v.Name, Row: v.Row, Wide: true, Columns: v.Columns})
	}
	return append(list, queries.Relations()...)
}

func (c *Console) listTables() {
	var rows [][]string
	for _, r := range relations() {
		kind := "table"
		if r.Wide {
			kind = "view"
		}
		rows = append(rows, []string{r.Name, kind, r.Row})
	}
	_ = c.Table([]terminal.Field{{Name: "name"}, {Name: "kind"}, {Name: "a row is"}}, rows, false)
}

func (c *Console) describe(name string) {
	var rows [][]string
	for _, r := range relations() {
		for _, column := range r.Columns {
			if r.Name == name {
				rows = append(rows, []string{column.Name, column.Type, column.Unit, column.Doc})
			}
		}
	}
	if rows == nil {
		c.Messagef("no view or table %s (.tables lists them)\n", name)
		return
	}
	_ = c.Table([]terminal.Field{{Name: "column"}, {Name: "type"}, {Name: "unit"}, {Name: "meaning"}}, rows, false)
}

var keywords = strings.Fields(`ALL AND AS ASC BETWEEN BY CASE CAST COUNT DESC DESCRIBE DISTINCT ELSE END EXISTS FALSE FROM
GROUP HAVING IN IS JOIN LEFT LIKE LIMIT MAX MIN NOT NULL ON OR ORDER OVER PARTITION SELECT SUM SUMMARIZE THEN TRUE UNION
USING VALUES WHEN WHERE WITH .help .quit .schema .tables`)

// completions returns the words that Tab completes, sorted.
func completions() []string {
	words := slices.Clone(keywords)
	for _, r := range relations() {
		words = append(words, r.Name)
		for _, c := range r.Columns {
			words = append(words, c.Name)
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// complete completes the word of line that ends at rune pos: it returns the text before the word,
// the possible words, and the text after pos.
func complete(words []string, line string, pos int) (head string, found []string, tail string) {
	runes := []rune(line)
	start := pos
	for start > 0 && isWord(runes[start-1]) {
		start--
	}
	if start == 1 && runes[0] == '.' {
		start = 0
	}
	prefix := strings.ToLower(string(runes[start:pos]))
	for _, w := range words {
		if prefix != "" && strings.HasPrefix(strings.ToLower(w), prefix) {
			found = append(found, w)
		}
	}
	return string(runes[:start]), found, string(runes[pos:])
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// historyFile returns the path of the prompt's history, or "" without a home directory.
func historyFile() string {
	dir := os.Getenv("XDG_STATE_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "stackmill", "history")
}

func writeHistory(l *liner.State, name string) error {
	if name == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = f.Chmod(0o600) // an existing file may have other permissions
	if err == nil {
		_, err = l.WriteHistory(f)
	}
	return errors.Join(err, f.Close())
}
