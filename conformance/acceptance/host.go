package acceptance

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/flow-agents/flow-agents/generators/model"
)

// A Program is an installed host that is known to run here.
type Program struct {
	Path    string
	Version string // of the package
	Banner  string // what the program itself says
}

// CacheDir is where hosts are installed: $FLOW_AGENTS_ACCEPTANCE_CACHE, else
// in the user's cache folder.
func CacheDir() (string, error) {
	if dir := os.Getenv("FLOW_AGENTS_ACCEPTANCE_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "flow-agents", "acceptance"), nil
}

// InstallHost makes sure that a release of a host is in the cache, and that it
// runs. Version overrides the driver's; "latest" is looked up anew each time.
// Every error is a reason to skip the host: nothing of ours was tried yet.
func InstallHost(ctx context.Context, id string, d *model.Driver, version, cache string) (Program, error) {
	if version == "" {
		version = d.NPM.Version
	}
	dir := filepath.Join(cache, id+"-"+version)
	if version == "latest" {
		if err := os.RemoveAll(dir); err != nil {
			return Program{}, err
		}
	}
	if p, err := findProgram(ctx, dir, d); err == nil {
		return p, nil
	}
	if err := npmInstall(ctx, dir, d.NPM.Package+"@"+version); err != nil {
		return Program{}, err
	}
	return findProgram(ctx, dir, d)
}

// npmInstall installs into a folder beside dir and renames it, so that a
// broken download never looks like a host. Install scripts stay off: they are
// someone else's code, and the native program comes as a package of its own.
func npmInstall(ctx context.Context, dir, spec string) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return fmt.Errorf("npm is not installed, so %s can't be fetched", spec)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	part, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".part-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(part)
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, npm, "install", "--prefix", part, "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel", "error", spec)
	cmd.WaitDelay = 5 * time.Second
	group(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm install %s: %w: %s", spec, err, npmReason(string(out)))
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(part, dir)
}

// npmReason takes the first words of npm's errors: the code and what it means.
func npmReason(out string) string {
	var reasons []string
	for line := range strings.Lines(out) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "npm error "); ok && len(reasons) < 2 {
			reasons = append(reasons, text)
		}
	}
	if len(reasons) == 0 {
		return lastLine(out)
	}
	return strings.Join(reasons, ": ")
}

// findProgram looks for the host's program and starts it once. A package with
// a native program ships it in packages named for platforms, and its own bin
// is a stub until the install script has run; so those come first, and the
// one that runs here is taken.
func findProgram(ctx context.Context, dir string, d *model.Driver) (Program, error) {
	modules := filepath.Join(dir, "node_modules")
	pkg := filepath.Join(modules, filepath.FromSlash(d.NPM.Package))
	bin := filepath.FromSlash(d.NPM.Bin)
	paths, err := filepath.Glob(filepath.Join(pkg+"-*", bin))
	if err != nil {
		return Program{}, err
	}
	paths = append(paths, filepath.Join(modules, ".bin", bin), filepath.Join(pkg, bin))

	var manifest struct{ Version string }
	data, err := os.ReadFile(filepath.Join(pkg, "package.json"))
	if err != nil {
		return Program{}, fmt.Errorf("%s is not installed: %w", d.NPM.Package, err)
	}
	if err := json.Unmarshal(data, &manifest); err != nil {
		return Program{}, fmt.Errorf("%s: package.json: %w", d.NPM.Package, err)
	}
	last := fmt.Errorf("%s %s has no program %s for this platform", d.NPM.Package, manifest.Version, d.NPM.Bin)
	for _, p := range paths {
		if info, err := os.Stat(p); err != nil || !info.Mode().IsRegular() {
			continue
		}
		banner, err := askVersion(ctx, p)
		if err != nil {
			last = fmt.Errorf("%s %s does not run on this platform: %w", d.NPM.Package, manifest.Version, err)
			continue
		}
		return Program{Path: p, Version: manifest.Version, Banner: banner}, nil
	}
	return Program{}, last
}

// askVersion starts the program where it can touch nothing of the user's.
func askVersion(ctx context.Context, program string) (string, error) {
	home, err := os.MkdirTemp("", "acceptance-home-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(home)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "PATH=" + systemPath(), "NO_PROXY=127.0.0.1"}
	cmd.WaitDelay = 5 * time.Second
	group(cmd)
	out, err := cmd.Output()
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(out)), nil
}

// systemPath is the search path of sessions: the system's own folders, and
// those of git and node wherever they are.
func systemPath() string {
	dirs := []string{"/usr/bin", "/bin"}
	for _, program := range []string{"git", "node"} {
		if p, err := exec.LookPath(program); err == nil {
			if dir := filepath.Dir(p); dir != dirs[0] && dir != dirs[1] {
				dirs = append(dirs, dir)
			}
		}
	}
	return strings.Join(dirs, string(os.PathListSeparator))
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndex(s, "\n")+1:]
}
