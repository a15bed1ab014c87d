package install

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flow-agents/flow-agents/install/bundle"
)

// A ledger is what takes an installation back: install.json in the state folder
// of the project or of the user. Contents are named by the SHA-256 of their
// bytes, in hex, and kept in backups/; an empty name stands for no file.
type ledger struct {
	SchemaVersion int      `json:"schema_version"`
	Files         []record `json:"files"`

	// dir is the state folder, base the folder that paths are below; empty for
	// absolute paths.
	dir, base string
}

// A record is one file that we wrote.
type record struct {
	Host    string `json:"host,omitempty"`
	Scope   string `json:"scope"`
	File    string `json:"file"`
	Surface string `json:"surface,omitempty"`
	Path    string `json:"path"`
	// Before is the file without us, After what we wrote last, Previous what
	// that replaced if it was a version of ours.
	Before   string `json:"before"`
	After    string `json:"after"`
	Previous string `json:"previous,omitempty"`
	// Created are places in the file, Dirs folders, that were not there before.
	Created []string `json:"created,omitempty"`
	Dirs    []string `json:"dirs,omitempty"`
}

// settingsFile is the record of the project's own settings.
const settingsFile = "flow-agents-settings"

func (in *Installer) openLedger(scope, root string) (*ledger, error) {
	l := &ledger{SchemaVersion: 1, dir: filepath.Join(in.Machine, "state")}
	if scope != bundle.User {
		l.dir, l.base = filepath.Join(root, ".flow-agents", "state"), root
		if info, err := os.Stat(filepath.Dir(l.dir)); err == nil && !info.IsDir() {
			return nil, fmt.Errorf("%s is a file, but flow-agents keeps a project's settings and state in a folder of that name; rename or remove the file", filepath.Dir(l.dir))
		}
	}
	data, err := os.ReadFile(l.path())
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, l); err != nil {
		return nil, fmt.Errorf("%s: %w; remove the file, and uninstall will take out entries by what they run", l.path(), err)
	}
	if l.SchemaVersion != 1 {
		return nil, fmt.Errorf("%s: schema_version is %d; a newer flow-agents wrote it, use that one", l.path(), l.SchemaVersion)
	}
	return l, l.check()
}

// check refuses a ledger that leads out of the project: one may come with a
// repository, from somebody else.
func (l *ledger) check() error {
	if l.base == "" {
		return nil
	}
	for _, r := range l.Files {
		for _, path := range append([]string{r.Path}, r.Dirs...) {
			if !filepath.IsLocal(filepath.FromSlash(path)) {
				return fmt.Errorf("%s: path %q is outside the project, so this program did not write the file; remove it", l.path(), path)
			}
		}
		for _, sum := range []string{r.Before, r.After, r.Previous} {
			if sum != "" && !isSum(sum) {
				return fmt.Errorf("%s: %q is no SHA-256, so this program did not write the file; remove it", l.path(), sum)
			}
		}
	}
	return nil
}

func isSum(name string) bool {
	return len(name) == 2*sha256.Size && strings.Trim(name, "0123456789abcdef") == ""
}

func (l *ledger) path() string { return filepath.Join(l.dir, "install.json") }

func (l *ledger) backup(sum string) string { return filepath.Join(l.dir, "backups", sum) }

// original returns the bytes with a sum.
func (l *ledger) original(sum string) ([]byte, error) {
	data, err := os.ReadFile(l.backup(sum))
	if err != nil {
		return nil, err
	}
	if sumOf(data) != sum {
		return nil, fmt.Errorf("%s does not hold what its name says", l.backup(sum))
	}
	return data, nil
}

func (l *ledger) bytes() []byte {
	slices.SortFunc(l.Files, func(a, b record) int { return strings.Compare(a.key(), b.key()) })
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	// A struct of strings can't fail to encode.
	_ = enc.Encode(l)
	return b.Bytes()
}

// key tells records apart. Two scopes may share a file.
func (r record) key() string { return r.Host + "\x00" + r.File + "\x00" + r.Path }

// rel is how a path stands in the ledger.
func (l *ledger) rel(path string) string {
	if l.base != "" {
		if rel, err := filepath.Rel(l.base, path); err == nil {
			return filepath.ToSlash(rel)
		}
	}
	return filepath.ToSlash(path)
}

func (l *ledger) abs(path string) string {
	if l.base != "" {
		return filepath.Join(l.base, filepath.FromSlash(path))
	}
	return filepath.FromSlash(path)
}

// find returns a copy of the record of a file, nil if there is none.
func (l *ledger) find(s site) *record {
	for _, r := range l.Files {
		if r.Host == s.bundle.Target.ID && r.File == s.file.ID && r.Path == l.rel(s.path) {
			return &r
		}
	}
	return nil
}

// set adds a record or puts it in the place of the one for the same file.
func (l *ledger) set(r record) {
	l.drop(r)
	l.Files = append(l.Files, r)
}

func (l *ledger) drop(r record) {
	l.Files = slices.DeleteFunc(l.Files, func(o record) bool { return o.key() == r.key() })
}

// inherit hands folders that we made on to the records that still have a file
// in them: the last one out removes them.
func (l *ledger) inherit(dirs []string) {
	for i := range l.Files {
		r := &l.Files[i]
		for _, dir := range dirs {
			if strings.HasPrefix(r.Path, dir+"/") {
				r.Dirs = union(r.Dirs, []string{dir})
			}
		}
		slices.SortFunc(r.Dirs, func(a, b string) int { return len(a) - len(b) })
	}
}

func sumOf(data []byte) string {
	if data == nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
