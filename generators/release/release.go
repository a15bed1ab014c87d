// Package release compiles the programs and lays out the release tree: bundles
// as folders and archives, one archive for each platform, checksums, and a
// description of what is in it.
package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/flow-agents/flow-agents/generators/declaration"
	"github.com/flow-agents/flow-agents/generators/fileset"
	"github.com/flow-agents/flow-agents/generators/model"
)

// A Platform is an operating system and processor that Go compiles for.
type Platform struct{ OS, Arch string }

func (p Platform) String() string { return p.OS + "/" + p.Arch }

// exe is the name of a program's file on the platform.
func (p Platform) exe(name string) string {
	if p.OS == "windows" {
		return name + ".exe"
	}
	return name
}

// Platforms are those that a release is built for unless told otherwise.
var Platforms = []Platform{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

// ParsePlatform reads os/arch; it knows the platforms that releases exist for.
func ParsePlatform(s string) (Platform, error) {
	os, arch, ok := strings.Cut(s, "/")
	p := Platform{os, arch}
	if !ok || !slices.Contains(Platforms, p) {
		var known []string
		for _, k := range Platforms {
			known = append(known, k.String())
		}
		return p, fmt.Errorf("platform %q: use one of %s", s, strings.Join(known, ", "))
	}
	return p, nil
}

// A Compiler builds the two programs for one platform into a directory.
type Compiler interface {
	Compile(p Platform, dir string) error
}

// Options says what to release.
type Options struct {
	Out     string
	Version string
	// Toolchain is the Go that compiles, as go env GOVERSION says.
	Toolchain string
	Platforms []Platform
	Compiler  Compiler
	// Step is told what is being done, for people who watch.
	Step func(format string, args ...any)
}

// programs are the binaries of a release.
var programs = []string{"flow-agents", "flow-agents-hook"}

// A Summary is release.json: what the tree holds. All of it follows from the
// sources, so two builds of one tree are byte-identical.
type Summary struct {
	SchemaVersion   int               `json:"schema_version"`
	Version         string            `json:"version"`
	ContractVersion string            `json:"contract_version"`
	Toolchain       string            `json:"toolchain"`
	Platforms       []string          `json:"platforms"`
	Hosts           []HostSummary     `json:"hosts"`
	Files           map[string]string `json:"files"`
}

// A HostSummary is one host of a release.
type HostSummary struct {
	ID           string `json:"id"`
	Title        string `json:"title"`
	Tested       string `json:"tested"`
	Level        string `json:"conformance_level"`
	SurfaceLevel string `json:"host_surface_level"`
	RestsOn      string `json:"rests_on"`
	Archive      string `json:"archive"`
}

// Summarize describes a catalog's hosts.
func Summarize(c *model.Catalog) []HostSummary {
	out := []HostSummary{}
	for _, h := range c.Hosts {
		out = append(out, HostSummary{
			ID: h.ID, Title: h.Title, Tested: h.Tested.Package + " " + h.Tested.Min + " to " + h.Tested.Max,
			Level: h.Declaration.Level, SurfaceLevel: h.Declaration.SurfaceLevel, RestsOn: declaration.RestsOn(c, h),
			Archive: "flow-agents-bundle_" + h.ID + ".tar.gz",
		})
	}
	return out
}

// Build writes the release tree. bundles holds every bundle's files below
// <host>/; what lies beside them is copied as it is. A tree that was there is
// replaced.
func Build(c *model.Catalog, bundles fileset.Set, o Options) (*Summary, error) {
	if err := WriteText(bundles, o.Out); err != nil {
		return nil, err
	}
	old := previous(o.Out)
	s := &Summary{SchemaVersion: 1, Version: o.Version, ContractVersion: ContractVersion, Toolchain: o.Toolchain, Platforms: []string{}, Hosts: Summarize(c), Files: map[string]string{}}
	jobs := []func() (string, []byte, error){}
	for _, h := range s.Hosts {
		var set fileset.Set
		for _, f := range bundles {
			if rest, ok := strings.CutPrefix(f.Path, h.ID+"/"); ok {
				f.Path = rest
				set = append(set, f)
			}
		}
		jobs = append(jobs, func() (string, []byte, error) {
			data, err := set.Tar("flow-agents-bundle_" + h.ID)
			return h.Archive, data, err
		})
	}
	for _, p := range o.Platforms {
		s.Platforms = append(s.Platforms, p.String())
		jobs = append(jobs, func() (string, []byte, error) { return platform(p, o) })
	}
	archives, err := parallel(jobs)
	if err != nil {
		return nil, err
	}
	for name, data := range archives {
		if err := os.WriteFile(filepath.Join(o.Out, name), data, 0o644); err != nil {
			return nil, err
		}
		s.Files[name] = sum(data)
	}
	for _, p := range o.Platforms {
		for _, prog := range programs {
			name := "bin/" + p.OS + "_" + p.Arch + "/" + p.exe(prog)
			data, err := os.ReadFile(filepath.Join(o.Out, filepath.FromSlash(name)))
			if err != nil {
				return nil, err
			}
			s.Files[name] = sum(data)
		}
	}
	if err := prune(o.Out, old, s); err != nil {
		return nil, err
	}
	return s, describe(o.Out, s)
}

// platform compiles and packs the programs for one platform.
func platform(p Platform, o Options) (string, []byte, error) {
	name := "flow-agents_" + p.OS + "_" + p.Arch
	dir := filepath.Join(o.Out, "bin", p.OS+"_"+p.Arch)
	o.Step("compile %s", p)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", nil, err
	}
	if err := o.Compiler.Compile(p, dir); err != nil {
		return "", nil, fmt.Errorf("compile for %s: %w", p, err)
	}
	var set fileset.Set
	for _, prog := range programs {
		data, err := os.ReadFile(filepath.Join(dir, p.exe(prog)))
		if err != nil {
			return "", nil, err
		}
		set.AddExecutable(p.exe(prog), data)
	}
	// The programs check each other against this before they are installed.
	var sums bytes.Buffer
	for _, f := range set {
		fmt.Fprintf(&sums, "%s  %s\n", sum(f.Data), f.Path)
	}
	if err := os.WriteFile(filepath.Join(dir, "SHA256SUMS"), sums.Bytes(), 0o644); err != nil {
		return "", nil, err
	}
	set.Add("SHA256SUMS", sums.Bytes())
	if p.OS == "windows" {
		data, err := set.Zip(name)
		return name + ".zip", data, err
	}
	data, err := set.Tar(name)
	return name + ".tar.gz", data, err
}

// prune removes what an earlier build listed and this one does not make, so
// that no stale file stands beside checksums that lack it.
func prune(out string, old, now *Summary) error {
	for name := range old.Files {
		if now.Files[name] != "" || !filepath.IsLocal(filepath.FromSlash(name)) {
			continue
		}
		if err := os.Remove(filepath.Join(out, filepath.FromSlash(name))); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	for _, p := range old.Platforms {
		if !slices.Contains(now.Platforms, p) {
			dir := filepath.Join(out, "bin", strings.ReplaceAll(p, "/", "_"))
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// previous is the summary of the build that is in a folder, or an empty one.
func previous(out string) *Summary {
	var s Summary
	data, err := os.ReadFile(filepath.Join(out, "release.json"))
	if err != nil || json.Unmarshal(data, &s) != nil {
		return &Summary{}
	}
	for _, p := range s.Platforms {
		if _, err := ParsePlatform(p); err != nil {
			return &Summary{}
		}
	}
	return &s
}

// describe writes release.json, and SHA256SUMS over it, the archives and the
// programs.
func describe(out string, s *Summary) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "release.json"), b.Bytes(), 0o644); err != nil {
		return err
	}
	sums := map[string]string{"release.json": sum(b.Bytes())}
	for n, h := range s.Files {
		sums[n] = h
	}
	var list bytes.Buffer
	for _, n := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&list, "%s  %s\n", sums[n], n)
	}
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), list.Bytes(), 0o644)
}

// parallel runs the jobs on all processors and collects what they made. Of
// several errors it returns that of the first job.
func parallel(jobs []func() (string, []byte, error)) (map[string][]byte, error) {
	var (
		wg    sync.WaitGroup
		names = make([]string, len(jobs))
		made  = make([][]byte, len(jobs))
		errs  = make([]error, len(jobs))
		slots = make(chan struct{}, max(2, runtime.NumCPU()))
	)
	for i, job := range jobs {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			names[i], made[i], errs[i] = job()
		})
	}
	wg.Wait()
	out := map[string][]byte{}
	for i := range jobs {
		if errs[i] != nil {
			return nil, errs[i]
		}
		out[names[i]] = made[i]
	}
	return out, nil
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}
