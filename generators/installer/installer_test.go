package installer_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/generators/installer"
	"github.com/flow-agents/flow-agents/generators/model"
	"github.com/flow-agents/flow-agents/internal/golden"
)

var tree = os.DirFS("../..")

func script(t *testing.T, id string) string {
	t.Helper()
	out, err := installer.Emit(model.Host{ID: id}, tree)
	require.NoError(t, err)
	require.Equal(t, "install.sh", out[0].Path)
	return string(out[0].Data)
}

func TestGolden(t *testing.T) {
	out, err := installer.Emit(model.Host{ID: "alpha", Title: "Alpha"}, tree)
	require.NoError(t, err)
	require.Len(t, out, 2)
	require.Equal(t, os.FileMode(0o755), out[0].Mode)
	require.Equal(t, os.FileMode(0o644), out[1].Mode)
	for _, f := range out {
		golden.Equal(t, filepath.Join("testdata", "golden", f.Path), f.Data)
		for i, r := range string(f.Data) {
			require.Less(t, r, rune(0x80), "%s: byte %d is not ASCII, which Windows PowerShell 5.1 would misread", f.Path, i)
		}
		require.NotRegexp(t, `https?://[a-z]+\.[a-z]`, string(f.Data), "no site is named")
	}
}

// TestTemplates: nothing gets into a script unquoted, and a misspelt field is
// an error.
func TestTemplates(t *testing.T) {
	for _, name := range []string{"install.sh", "install.ps1"} {
		src, err := os.ReadFile("../../templates/install/" + name + ".tmpl")
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`\{\{.*?\}\}`).FindAllString(string(src), -1) {
			require.Regexp(t, `^\{\{(sh|ps) `, m)
		}
	}
	bad := fstest.MapFS{"templates/install/install.sh.tmpl": {Data: []byte("{{sh .Idd}}")}}
	_, err := installer.Emit(model.Host{ID: "x"}, bad)
	require.ErrorContains(t, err, "Idd")
}

func TestQuote(t *testing.T) {
	require.Equal(t, `'a'\''b $(x) "'`, installer.Shell(`a'b $(x) "`))
	require.Equal(t, "'a''b $x \u2019\u2019'", installer.PowerShell("a'b $x \u2019"))
	if sh, err := exec.LookPath("sh"); err == nil {
		for _, s := range []string{"", "'", "''", "$(touch x)", "`x`", "\\", "a\nb", "*", "-n", "é"} {
			out, err := exec.Command(sh, "-c", "printf '%s' "+installer.Shell(s)).Output()
			require.NoError(t, err)
			require.Equal(t, s, string(out))
		}
	}
}

func TestShellCheck(t *testing.T) {
	check, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Skip("shellcheck is not installed")
	}
	cmd := exec.Command(check, "-s", "sh", "-")
	cmd.Stdin = strings.NewReader(script(t, "alpha"))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// shells are the POSIX shells of this machine.
func shells(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for name, args := range map[string][]string{"sh": nil, "dash": nil, "bash": {"--posix"}, "busybox": {"sh"}, "ksh": nil, "mksh": nil} {
		if p, err := exec.LookPath(name); err == nil {
			out[name] = append([]string{p}, args...)
		}
	}
	if len(out) == 0 {
		t.Skip("no POSIX shell is installed")
	}
	return out
}

// A release is a folder with archives of a stub that writes down how it was
// called.
type release struct{ dir, log string }

const stub = "#!/bin/sh\n{ printf '%s\\n' \"$@\"; } >\"$STUB_LOG\"\nexit \"${STUB_EXIT:-0}\"\n"

func newRelease(t *testing.T, dir string, sums func(name, sum string) string) release {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	var list strings.Builder
	list.WriteString(strings.Repeat("0", 64) + "  some-other-file.tar.gz\n")
	for _, p := range []string{"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64", "windows_amd64"} {
		name, data := "flow-agents_"+p+".tar.gz", tarball(t)
		if strings.HasPrefix(p, "windows") {
			name, data = "flow-agents_"+p+".zip", zipball(t)
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o644))
		sum := sha256.Sum256(data)
		list.WriteString(sums(name, hex.EncodeToString(sum[:])))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(list.String()), 0o644))
	return release{dir, filepath.Join(t.TempDir(), "log")}
}

func good(name, sum string) string { return sum + "  " + name + "\n" }

func tarball(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	require.NoError(t, w.WriteHeader(&tar.Header{Name: "flow-agents", Mode: 0o755, Size: int64(len(stub)), Format: tar.FormatUSTAR}))
	_, err := w.Write([]byte(stub))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	return b.Bytes()
}

func zipball(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	h := &zip.FileHeader{Name: "flow-agents_windows_amd64/flow-agents.exe"}
	h.SetMode(0o755)
	f, err := w.CreateHeader(h)
	require.NoError(t, err)
	_, err = f.Write([]byte(stub))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// run is one call of install.sh.
type run struct {
	shell []string
	// at is the folder that the script is in.
	at   string
	args []string
	env  []string
}

type result struct {
	code   int
	stderr string
	// called is how the stub was called; nil: it wasn't.
	called []string
}

func (r release) run(t *testing.T, x run) result {
	t.Helper()
	_ = os.Remove(r.log)
	tmp := t.TempDir()
	name := filepath.Join(x.at, "install.sh")
	require.NoError(t, os.MkdirAll(x.at, 0o755))
	require.NoError(t, os.WriteFile(name, []byte(script(t, "alpha")), 0o755))
	cmd := exec.Command(x.shell[0], append(append(x.shell[1:], name), x.args...)...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(append(os.Environ(), "STUB_LOG="+r.log, "TMPDIR="+tmp, "http_proxy=", "HTTP_PROXY="), x.env...)
	var msg bytes.Buffer
	cmd.Stderr = &msg
	_ = cmd.Run()
	res := result{code: cmd.ProcessState.ExitCode(), stderr: msg.String()}
	if data, err := os.ReadFile(r.log); err == nil {
		res.called = strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	}
	left, err := os.ReadDir(tmp)
	require.NoError(t, err)
	require.Empty(t, left, "temporary files are left behind")
	return res
}

// path makes a folder with stand-ins for programs, and nothing else in it but
// links to the real ones of the list.
func path(t *testing.T, fakes map[string]string, real ...string) string {
	t.Helper()
	dir := t.TempDir()
	for n, body := range fakes {
		require.NoError(t, os.WriteFile(filepath.Join(dir, n), []byte("#!/bin/sh\n"+body+"\n"), 0o755))
	}
	for _, n := range real {
		if p, err := exec.LookPath(n); err == nil {
			require.NoError(t, os.Symlink(p, filepath.Join(dir, n)))
		}
	}
	return dir
}

// Programs that the script can't do without, whatever else there is.
var needed = []string{"sh", "cat", "cp", "cut", "dirname", "gzip", "mkdir", "mktemp", "rm", "sed", "tar", "tr", "uname", "unzip"}

func TestRun(t *testing.T) {
	if runtime.GOOS == "windows" || testing.Short() {
		t.Skip("runs a POSIX shell")
	}
	called := []string{"init", "--host", "alpha"}
	for name, shell := range shells(t) {
		t.Run(name, func(t *testing.T) {
			t.Run("release tree", func(t *testing.T) {
				r := newRelease(t, t.TempDir(), good)
				got := r.run(t, run{shell: shell, at: filepath.Join(r.dir, "bundles", "alpha")})
				require.Equal(t, result{0, "", called}, got)
			})
			t.Run("one folder, awkward names", func(t *testing.T) {
				for _, dir := range []string{"with space", "o'neil $HOME `id` \"q\"", "-dash", "ünï", "a;b&c*"} {
					r := newRelease(t, filepath.Join(t.TempDir(), dir), good)
					got := r.run(t, run{shell: shell, at: r.dir})
					require.Equal(t, result{0, "", called}, got, dir)
				}
			})
			t.Run("options reach init whole", func(t *testing.T) {
				r := newRelease(t, t.TempDir(), good)
				got := r.run(t, run{shell: shell, at: t.TempDir(), args: []string{"--from", r.dir, "--", "--dest", "a b", "*", "$(touch x)", "'", "--from", "x"}})
				require.Equal(t, result{0, "", append(called, "--dest", "a b", "*", "$(touch x)", "'", "--from", "x")}, got)
			})
			t.Run("sums of other writers", func(t *testing.T) {
				for _, sums := range []func(n, s string) string{
					func(n, s string) string { return strings.ToUpper(s) + " *" + n + "\r\n" },
					func(n, s string) string { return s + "  ./" + n + "\n" },
				} {
					r := newRelease(t, t.TempDir(), sums)
					require.Equal(t, called, r.run(t, run{shell: shell, at: r.dir}).called)
				}
			})
			t.Run("bad checksum", func(t *testing.T) {
				r := newRelease(t, t.TempDir(), func(n, s string) string { return good(n, strings.Repeat("a", 64)) })
				got := r.run(t, run{shell: shell, at: r.dir})
				require.Equal(t, 1, got.code)
				require.Nil(t, got.called)
				require.Contains(t, got.stderr, "is not what SHA256SUMS says")
			})
			t.Run("no entry", func(t *testing.T) {
				r := newRelease(t, t.TempDir(), func(n, s string) string { return good(n+".sig", s) })
				got := r.run(t, run{shell: shell, at: r.dir})
				require.Equal(t, 1, got.code)
				require.Nil(t, got.called)
				require.Contains(t, got.stderr, "has no entry for flow-agents_")
			})
			t.Run("no archive", func(t *testing.T) {
				r := newRelease(t, t.TempDir(), good)
				files, err := filepath.Glob(filepath.Join(r.dir, "*.tar.gz"))
				require.NoError(t, err)
				for _, f := range files {
					require.NoError(t, os.Remove(f))
				}
				got := r.run(t, run{shell: shell, at: r.dir})
				require.Equal(t, 1, got.code)
				require.Contains(t, got.stderr, "there is no flow-agents_")
			})
			t.Run("no release", func(t *testing.T) {
				r := newRelease(t, t.TempDir(), good)
				got := r.run(t, run{shell: shell, at: t.TempDir()})
				require.Equal(t, 1, got.code)
				require.Contains(t, got.stderr, "no SHA256SUMS in")
				got = r.run(t, run{shell: shell, at: t.TempDir(), args: []string{"--from=/no/such/folder"}})
				require.Equal(t, result{1, "install: there is no folder /no/such/folder\n", nil}, got)
			})
			t.Run("init fails", func(t *testing.T) {
				r := newRelease(t, t.TempDir(), good)
				got := r.run(t, run{shell: shell, at: r.dir, env: []string{"STUB_EXIT=7"}})
				require.Equal(t, result{7, "", called}, got)
			})
			t.Run("usage", func(t *testing.T) {
				r := newRelease(t, t.TempDir(), good)
				require.Equal(t, result{0, "", nil}, r.run(t, run{shell: shell, at: r.dir, args: []string{"--help"}}))
				require.Equal(t, result{2, "install: unknown argument --yes; options of flow-agents init go after --\n", nil}, r.run(t, run{shell: shell, at: r.dir, args: []string{"--yes"}}))
				require.Equal(t, 1, r.run(t, run{shell: shell, at: r.dir, args: []string{"--from"}}).code)
			})
		})
	}
}

func TestPlatforms(t *testing.T) {
	if runtime.GOOS == "windows" || testing.Short() {
		t.Skip("runs a POSIX shell")
	}
	for _, shell := range shells(t) {
		for _, tc := range []struct{ os, arch, want string }{
			{"Linux", "x86_64", ""}, {"Linux", "aarch64", ""}, {"Darwin", "arm64", ""}, {"Darwin", "x86_64", ""},
			{"MINGW64_NT-10.0-22631", "x86_64", ""}, {"MSYS_NT-10.0", "x86_64", ""},
			{"MSYS_NT-10.0", "aarch64", "has no entry for flow-agents_windows_arm64.zip"},
			{"Plan9", "x86_64", "there is no build for Plan9"}, {"Linux", "riscv64", "there is no build for riscv64"},
		} {
			r := newRelease(t, t.TempDir(), good)
			uname := `[ "$1" = -s ] && echo ` + installer.Shell(tc.os) + ` || echo ` + tc.arch
			got := r.run(t, run{shell: shell, at: r.dir, env: []string{"PATH=" + path(t, map[string]string{"uname": uname}) + ":" + os.Getenv("PATH")}})
			if tc.want == "" {
				require.Equal(t, result{0, "", []string{"init", "--host", "alpha"}}, got, "%v", tc)
			} else {
				require.Contains(t, got.stderr, tc.want)
				require.Nil(t, got.called)
				require.Equal(t, 1, got.code)
			}
		}
	}
}

// TestTools: each of the programs that can do a job does it alone.
func TestTools(t *testing.T) {
	if runtime.GOOS == "windows" || testing.Short() {
		t.Skip("runs a POSIX shell")
	}
	r := newRelease(t, t.TempDir(), good)
	server := httptest.NewServer(http.FileServer(http.Dir(r.dir)))
	defer server.Close()
	for _, shell := range shells(t) {
		for _, tool := range []string{"sha256sum", "shasum", "openssl"} {
			if _, err := exec.LookPath(tool); err != nil {
				continue
			}
			got := r.run(t, run{shell: shell, at: r.dir, env: []string{"PATH=" + path(t, nil, append(needed, tool, "perl")...)}})
			require.Zero(t, got.code, "%s: %s", tool, got.stderr)
		}
		got := r.run(t, run{shell: shell, at: r.dir, env: []string{"PATH=" + path(t, nil, needed...)}})
		require.Equal(t, result{1, "install: checking the download needs sha256sum, shasum or openssl\n", nil}, got)

		for _, tool := range []string{"curl", "wget"} {
			if _, err := exec.LookPath(tool); err != nil {
				continue
			}
			env := []string{"PATH=" + path(t, nil, append(needed, tool, "sha256sum")...)}
			got := r.run(t, run{shell: shell, at: t.TempDir(), args: []string{"--from", server.URL}, env: env})
			require.Equal(t, result{0, "", []string{"init", "--host", "alpha"}}, got, tool)
			got = r.run(t, run{shell: shell, at: t.TempDir(), args: []string{"--from", server.URL + "/none/"}, env: env})
			require.Equal(t, 1, got.code)
			require.Contains(t, got.stderr, "can't download "+server.URL+"/none/SHA256SUMS")
		}
		got = r.run(t, run{shell: shell, at: t.TempDir(), args: []string{"--from", server.URL}, env: []string{"PATH=" + path(t, nil, append(needed, "sha256sum")...)}})
		require.Contains(t, got.stderr, "downloading needs curl or wget")
	}
}

func TestAddresses(t *testing.T) {
	if runtime.GOOS == "windows" || testing.Short() {
		t.Skip("runs a POSIX shell")
	}
	server := httptest.NewServer(http.NotFoundHandler())
	offline := server.URL
	server.Close()
	r := newRelease(t, t.TempDir(), good)
	for _, shell := range shells(t) {
		for from, want := range map[string]string{
			offline:                      "can't download " + offline + "/SHA256SUMS",
			"http://mirror.invalid/x":    "is plain http",
			"http://127.0.0.1.invalid/x": "is plain http",
			"http://localhost.invalid":   "is plain http",
			"ftp://mirror.invalid/x":     "is neither a folder nor an https address",
		} {
			got := r.run(t, run{shell: shell, at: t.TempDir(), args: []string{"--from", from}})
			require.Equal(t, 1, got.code, from)
			require.Contains(t, got.stderr, want, from)
			require.Nil(t, got.called)
		}
	}
}

// TestPipe: a script that was cut off runs nothing, and one that is read from
// a pipe says what it needs.
func TestPipe(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil || testing.Short() {
		t.Skip("runs a POSIX shell")
	}
	whole := script(t, "alpha")
	for n := 0; n < len(whole)-1; n += 97 {
		cmd := exec.Command(sh)
		cmd.Stdin = strings.NewReader(whole[:n])
		cmd.Env = []string{"PATH=/nowhere"}
		out, _ := cmd.CombinedOutput()
		require.NotContains(t, string(out), "not found", "cut at %d", n)
	}
	cmd := exec.Command(sh)
	cmd.Dir = t.TempDir()
	cmd.Stdin = strings.NewReader(whole)
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "give --from DIR or --from URL")
}
