// Package fakemodel is a scripted model server on loopback. A real agent host
// talks to it as to its vendor's API; the script says which tools the "model"
// calls, and the log says what the host sent it, word for word.
//
//	srv, err := fakemodel.Start(script, fakemodel.Options{})
//	defer srv.Close()
//	// run the host against srv.URL, then:
//	srv.Requests() // everything that it sent
//
// The server listens on 127.0.0.1 only and knows no secret: credentials in
// request headers are scrubbed before they are kept.
package fakemodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// Options change how a server runs.
type Options struct {
	// Dir, if set, receives one JSON file per request.
	Dir string
	// MaxBody is the largest body in bytes that is read. Default: 64 MiB.
	MaxBody int64
}

// A Server plays one script.
type Server struct {
	// URL is the base address, without a slash at its end.
	URL string

	script Script
	opts   Options
	http   *http.Server
	done   chan struct{}

	mu      sync.Mutex
	log     []Request
	next    map[string]int // conversation -> turns consumed
	overrun int
	dumpErr error
}

// api is one vendor's wire format. Every API gets the same script and yields
// the same log.
type api interface {
	// route tells what a path is for, and whether it belongs to this API.
	route(method, path string) (kind Kind, ok bool)
	// parse reads a request of kind Chat.
	parse(body []byte) (chat, error)
	// reply writes one turn; id is unique for the server.
	reply(w http.ResponseWriter, c chat, id string, blocks []Block, cut bool) error
	// count answers a request of kind Count.
	count(w http.ResponseWriter)
	// fail writes an error.
	fail(w http.ResponseWriter, e APIError)
}

var apis = []api{anthropic{}}

// Start listens on a free port of 127.0.0.1 and serves until Close.
func Start(script Script, opts Options) (*Server, error) {
	if opts.MaxBody == 0 {
		opts.MaxBody = 64 << 20
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start fake model: %w", err)
	}
	s := &Server{
		URL:    "http://" + ln.Addr().String(),
		script: script,
		opts:   opts,
		next:   map[string]int{},
		done:   make(chan struct{}),
	}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(ln) // always http.ErrServerClosed after Close
	}()
	return s, nil
}

// Close stops the server at once, in the middle of answers too. The log stays
// readable. It reports the first failure to write to Options.Dir.
func (s *Server) Close() error {
	err := s.http.Close()
	<-s.done
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dumpErr != nil {
		return s.dumpErr
	}
	return err
}

// ServeHTTP logs the request and answers it from the script.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req := Request{Method: r.Method, Path: r.URL.Path, Header: scrub(r.Header), Kind: Unknown}
	a, kind := apis[0], Unknown
	for _, c := range apis {
		if k, ok := c.route(r.Method, r.URL.Path); ok {
			a, kind = c, k
			break
		}
	}
	if kind == Unknown && (r.Method == http.MethodHead || r.Method == http.MethodGet && r.URL.Path == "/") {
		kind = Probe
	}
	req.Kind = kind

	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.opts.MaxBody))
	if err != nil {
		req.Problem = "body: " + err.Error()
		s.record(req)
		a.fail(w, APIError{Status: http.StatusRequestEntityTooLarge, Type: "request_too_large", Message: "the body is too large or could not be read"})
		return
	}
	req.Body = body

	switch kind {
	case Probe:
		s.record(req)
		w.WriteHeader(http.StatusOK)
	case Count:
		s.record(req)
		a.count(w)
	case Chat:
		s.chat(w, r, a, req)
	default:
		s.record(req)
		a.fail(w, APIError{Status: http.StatusNotFound, Type: "not_found_error", Message: "the fake model has no " + r.URL.Path})
	}
}

func (s *Server) chat(w http.ResponseWriter, r *http.Request, a api, req Request) {
	c, err := a.parse(req.Body)
	if err != nil {
		req.Problem = err.Error()
		s.record(req)
		a.fail(w, APIError{Status: http.StatusBadRequest, Type: "invalid_request_error", Message: err.Error()})
		return
	}
	req.chat = c
	req.Conversation = s.conversation(c)
	n, k, turn := s.take(req)

	if turn.SleepMs > 0 {
		select {
		case <-time.After(time.Duration(turn.SleepMs) * time.Millisecond):
		case <-r.Context().Done():
			return
		}
	}
	if turn.Error != nil {
		a.fail(w, *turn.Error)
		return
	}
	// A client that hangs up makes the write fail. That is the client's
	// affair: the log already says what it asked.
	_ = a.reply(w, c, fmt.Sprintf("msg_%04d", n), callIDs(turn.Blocks, req.Conversation, k), turn.Cut)
}

func (s *Server) conversation(c chat) string {
	switch {
	case !c.tools:
		return Other
	case s.script.SubMark != "" && contains(c.first, s.script.SubMark):
		return Sub
	default:
		return Main
	}
}

// take logs a request and consumes the turn that answers it, in one step, so
// that the log's order is the script's order under concurrency too. It returns
// the number of the request, the number of the turn and the turn.
func (s *Server) take(req Request) (n, k int, turn Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var turns []Turn
	switch req.Conversation {
	case Main:
		turns = s.script.Main
	case Sub:
		turns = s.script.Sub
	}
	k = s.next[req.Conversation]
	s.next[req.Conversation]++
	req.Turn = k + 1
	n = s.append(req)
	switch {
	case req.Conversation == Other:
		text := s.script.Other
		if text == "" {
			text = "A title"
		}
		turn = Turn{Blocks: []Block{{Text: text}}}
	case k < len(turns):
		turn = turns[k]
	default:
		s.overrun++
		turn = Turn{Blocks: []Block{{Text: "The script has ended."}}}
	}
	return n, k, turn
}

func (s *Server) record(req Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.append(req)
}

// callIDs gives every tool call an id, without touching the script.
func callIDs(blocks []Block, conversation string, turn int) []Block {
	out := make([]Block, len(blocks))
	for i, b := range blocks {
		if b.Tool != "" && b.ID == "" {
			b.ID = fmt.Sprintf("toolu_%s_%d_%d", conversation, turn+1, i+1)
		}
		out[i] = b
	}
	return out
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", fmt.Sprint(len(data)))
	w.WriteHeader(status)
	_, _ = w.Write(data)
}
