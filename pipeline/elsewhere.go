package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/sync/semaphore"

	"stackmill/internal/hosterr"
	"stackmill/internal/objstore"
	"stackmill/internal/ordered"
	"stackmill/schema/storedir"
)

// elsewhere are the objects of a recording that is not on a file system: of an experiment all
// below its name, else one.
type elsewhere struct {
	name    objstore.Address // what the objects' keys begin with
	objects []objstore.Object
}

// stagedBytes bounds what large recordings take here that are read at the same time. One that
// is larger is alone. Small ones are not counted: they wait for each other, and take at most
// largeInput each.
const stagedBytes = 4 << 30

// looksAtOnce is how many addresses are looked at side by side.
const looksAtOnce = 16

// beginBytes is how much of an object tells whether it is a recording: magic bytes, or the
// first fields of a compressed profile.
const beginBytes = 64 << 10

// These end the names of experiments' directories, and of files that list experiments.
const (
	experimentSuffix = ".er"
	groupSuffix      = ".erg"
)

// discoverElsewhere finds the recordings that addresses stand for, in the order given. Those below a
// prefix are in the order of their names.
func discoverElsewhere(ctx context.Context, addresses []string, recursive bool) [][]input {
	found := make([][]input, len(addresses))
	each := context.WithoutCancel(ctx) // all of them have a result
	_ = ordered.ForEach(each, len(addresses), looksAtOnce, func(_ context.Context, i int) (err error) {
		if text := addresses[i]; objstore.Is(text) {
			if found[i], err = at(ctx, text, recursive); err != nil {
				found[i] = append(found[i], input{path: text, err: err})
			}
		}
		return nil
	})
	return found
}

// mostObjects bounds how many objects are listed below an address.
const mostObjects = 4 << 20

// at finds the recordings that an address stands for: an object, an experiment, or all below.
func at(ctx context.Context, text string, recursive bool) (list []input, err error) {
	client, err := objstore.Shared()
	if err != nil {
		return nil, hosterr.New(err)
	}
	a, err := objstore.Parse(text)
	if err != nil {
		return nil, err
	}
	if a.Key != "" && path.Ext(a.Key) != experimentSuffix {
		o, err := client.Stat(ctx, a)
		if err == nil {
			return []input{inputOf(&elsewhere{a, []objstore.Object{o}})}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	var all []*elsewhere
	deeper := ""
	err = client.List(ctx, a, mostObjects, func(o objstore.Object) error {
		name, deep := recordingOf(a, o.Address)
		if deep && !recursive {
			if path.Ext(name.Key) == experimentSuffix {
				deeper = name.String()
			}
			return nil
		}
		if last := len(all) - 1; last < 0 || all[last].name != name {
			all = append(all, &elsewhere{name: name})
		}
		e := all[len(all)-1]
		e.objects = append(e.objects, o)
		return nil
	})
	if err != nil {
		return nil, err
	}
	list, err = recordings(ctx, client, all)
	switch {
	case err != nil || len(list) > 0:
		return list, err
	case len(all) == 0 && deeper == "":
		return nil, fmt.Errorf("%s: %w", a, fs.ErrNotExist)
	case deeper != "":
		return nil, fmt.Errorf("%w: but there is one further below, %s (--recursive looks there)", ErrNoRecording, deeper)
	}
	return nil, ErrNoRecording
}

// recordingOf returns the name of the recording that an object belongs to, or may be, and
// whether that is deeper than the first level below an address.
func recordingOf(below, o objstore.Address) (name objstore.Address, deep bool) {
	rest := strings.TrimPrefix(strings.TrimPrefix(o.Key, below.Key), "/")
	if path.Ext(below.Key) == experimentSuffix {
		return below, false
	}
	parts := strings.Split(rest, "/")
	for i, part := range parts[:len(parts)-1] {
		if path.Ext(part) == experimentSuffix {
			return below.Join(parts[:i+1]...), i > 0
		}
	}
	return o, len(parts) > 1
}

// recordings returns those that are experiments by their names, or begin as recordings do.
func recordings(ctx context.Context, client *objstore.Client, all []*elsewhere) (list []input, err error) {
	is := make([]bool, len(all))
	err = ordered.ForEach(ctx, len(all), looksAtOnce, func(ctx context.Context, i int) (err error) {
		e := all[i]
		if path.Ext(e.name.Key) == experimentSuffix && len(e.objects) > 0 && e.objects[0].Address != e.name {
			is[i] = true
			return nil
		}
		is[i], err = begins(ctx, client, e.objects[0])
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, e := range all {
		if is[i] {
			list = append(list, inputOf(e))
		}
	}
	return list, nil
}

// begins reports whether an object is a recording, or was meant to be one, by its name and
// first bytes.
func begins(ctx context.Context, client *objstore.Client, o objstore.Object) (bool, error) {
	head, err := client.Begin(ctx, o, beginBytes)
	if err != nil {
		return false, err
	}
	return looksLikeRecording(path.Base(o.Key), head)
}

// inputOf returns the input of a recording. Its state are the names, sizes and ETags of its
// objects.
func inputOf(e *elsewhere) input {
	h := xxhash.New()
	in := input{path: e.name.String(), from: e}
	slices.SortFunc(e.objects, func(a, b objstore.Object) int { return strings.Compare(a.Key, b.Key) })
	for _, o := range e.objects {
		name := strings.TrimPrefix(o.Key, e.name.Key)
		fmt.Fprintf(h, "%q %d %q\n", name, o.Size, o.ETag)
		in.count(name, o.Size)
	}
	in.state = fmt.Sprintf("%016x", h.Sum64())
	if path.Ext(e.name.Key) == groupSuffix {
		in.err = fmt.Errorf("%w: a group cannot be read from there (name the prefix of its experiments)", ErrNoRecording)
	}
	return in
}

// staging is where recordings are that are not on a file system, while they are read.
type staging struct{ large *semaphore.Weighted }

func newStaging() staging { return staging{semaphore.NewWeighted(stagedBytes)} }

// bring brings the files of an input here, as long as done was not called. It sets where the
// input is read, and its decoder; an error is a fault, or that an object is gone.
func (in *ingest) bring(ctx context.Context, src *input) (done func(), err error) {
	room := int64(0)
	if src.bytes >= largeInput {
		room = min(src.bytes, stagedBytes)
		if err := in.staging.large.Acquire(ctx, room); err != nil {
			return nil, hosterr.New(err)
		}
	}
	scratch, err := storedir.NewStaging(in.Store)
	done = func() {
		if scratch != nil {
			scratch.Remove()
		}
		in.staging.large.Release(room)
	}
	if err == nil {
		src.at = filepath.Join(scratch.Dir, src.from.plainName())
		err = src.from.bring(ctx, src.at)
	}
	if err == nil && decoderOf(src.at) == nil { // an object may be compressed
		var c *compressedFile
		if c, src.err = compressedRecording(src.at); c != nil {
			src.at = filepath.Join(scratch.Dir, "plain-"+c.plainName())
			err = c.bring(ctx, src.at)
		}
	}
	if err != nil {
		done()
		if errors.As(err, new(*os.PathError)) && !errors.Is(err, fs.ErrNotExist) {
			err = hosterr.New(err)
		}
		return nil, err
	}
	if src.decoder = decoderOf(src.at); src.decoder == nil && src.err == nil {
		if src.err = meant(src.at); src.err == nil {
			src.err = ErrNoRecording
		}
	}
	return done, nil
}

// plainName implements origin.
func (e *elsewhere) plainName() string { return path.Base(e.name.Key) }

// bring implements origin.
func (e *elsewhere) bring(ctx context.Context, to string) error {
	client, err := objstore.Shared()
	if err != nil {
		return hosterr.New(err)
	}
	return e.download(ctx, client, to)
}

// downloadsAtOnce is how many objects of a recording are read side by side.
const downloadsAtOnce = 8

// download makes files of the objects, with their times.
func (e *elsewhere) download(ctx context.Context, client *objstore.Client, to string) error {
	files := make([]string, len(e.objects))
	for i, o := range e.objects {
		// A key may be what no file can be called, or what another one is called here.
		within := strings.TrimPrefix(o.Key, e.name.Key)
		if within != "" && (path.Clean(within) != within || !filepath.IsLocal(within[1:])) {
			return fmt.Errorf("%s: %w: no file of a recording can have that name", o.Address, ErrNoRecording)
		}
		files[i] = filepath.Join(to, filepath.FromSlash(within))
	}
	return ordered.ForEach(ctx, len(files), downloadsAtOnce, func(ctx context.Context, i int) error {
		file, o := files[i], e.objects[i]
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		f, err := os.Create(file)
		if err != nil {
			return err
		}
		_, err = client.Download(ctx, o, f)
		if err = errors.Join(err, f.Close()); err != nil {
			if errors.Is(err, objstore.ErrChanged) {
				err = hosterr.New(err)
			}
			return err
		}
		return os.Chtimes(file, o.Modified, o.Modified)
	})
}
