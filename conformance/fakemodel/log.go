package fakemodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Kind tells what a request was for.
type Kind string

// The kinds of request.
const (
	Chat    Kind = "chat"    // the next turn of a conversation
	Count   Kind = "count"   // how many tokens a conversation has
	Probe   Kind = "probe"   // is anybody there
	Unknown Kind = "unknown" // a path that no API has; answered with 404
)

// Conversations of a script.
const (
	Main  = "main"
	Sub   = "sub"
	Other = "other"
)

// A Request is one request as the server got it.
type Request struct {
	// N counts all requests from 1.
	N      int         `json:"n"`
	Method string      `json:"method"`
	Path   string      `json:"path"`
	Header http.Header `json:"header"`
	Body   []byte      `json:"-"`
	Kind   Kind        `json:"kind"`
	// Conversation is main, sub or other, for requests of kind Chat.
	Conversation string `json:"conversation,omitempty"`
	// Turn counts the requests of one conversation from 1.
	Turn int `json:"turn,omitempty"`
	// Problem says why the request could not be understood.
	Problem string `json:"problem,omitempty"`

	chat chat
}

// chat is what every API's request comes down to.
type chat struct {
	model   string
	stream  bool
	tools   bool
	first   string // the conversation's first message
	told    []string
	results []ToolResult
}

// A ToolResult is what the host told the model about one call.
type ToolResult struct {
	ID    string
	Text  string
	Error bool
}

// Text is everything that the model is told in a request: the system prompt,
// the user's messages and tool results, in order, one piece per line. What the
// model itself said earlier is left out.
func (r Request) Text() string { return strings.Join(r.chat.told, "\n") }

// ToolResults are the results of calls in a request, in order. A request holds
// those of all earlier turns too.
func (r Request) ToolResults() []ToolResult { return slices.Clone(r.chat.results) }

// Requests are all requests so far, in the order of their arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// Conversation are the requests of one conversation so far.
func (s *Server) Conversation(name string) []Request {
	return slices.DeleteFunc(s.Requests(), func(r Request) bool { return r.Conversation != name })
}

// Contains says whether the model was told a text in any request.
func (s *Server) Contains(text string) bool {
	return slices.ContainsFunc(s.Requests(), func(r Request) bool { return contains(r.Text(), text) })
}

// ToolResult finds the result of a call, from the first request that holds it.
func (s *Server) ToolResult(id string) (ToolResult, bool) {
	for _, r := range s.Requests() {
		for _, t := range r.chat.results {
			if t.ID == id {
				return t, true
			}
		}
	}
	return ToolResult{}, false
}

// Left is how many turns of each conversation were never asked for.
func (s *Server) Left() (main, sub int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(0, len(s.script.Main)-s.next[Main]), max(0, len(s.script.Sub)-s.next[Sub])
}

// Overrun is how many requests came after the end of their conversation.
func (s *Server) Overrun() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.overrun
}

// append numbers, keeps and dumps a request; s.mu is held.
func (s *Server) append(req Request) int {
	req.N = len(s.log) + 1
	s.log = append(s.log, req)
	if s.opts.Dir != "" {
		if err := dump(s.opts.Dir, req); err != nil && s.dumpErr == nil {
			s.dumpErr = err
		}
	}
	return req.N
}

func dump(dir string, req Request) error {
	body := json.RawMessage(req.Body)
	if !json.Valid(body) {
		var err error
		if body, err = json.Marshal(string(req.Body)); err != nil {
			return err
		}
	}
	data, err := json.MarshalIndent(struct {
		Request
		Body json.RawMessage `json:"body"`
	}{req, body}, "", " ")
	if err != nil {
		return fmt.Errorf("log request %d: %w", req.N, err)
	}
	return os.WriteFile(filepath.Join(dir, fmt.Sprintf("request-%03d.json", req.N)), append(data, '\n'), 0o600)
}

// scrub copies headers without their secrets. It goes by name, since the
// value of a credential has no shape that all vendors share.
func scrub(h http.Header) http.Header {
	out := h.Clone()
	for name := range out {
		low := strings.ToLower(name)
		for _, word := range []string{"auth", "key", "token", "secret", "cookie", "credential"} {
			if strings.Contains(low, word) {
				out[name] = []string{"[scrubbed]"}
			}
		}
	}
	return out
}

func contains(s, part string) bool { return strings.Contains(s, part) }
