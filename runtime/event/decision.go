package event

// A Verdict is what a policy says to an event. A greater one overrules.
type Verdict uint8

// The verdicts.
const (
	// Allow is no objection: the host does what it would have done anyway.
	Allow Verdict = iota
	// Context lets the event pass and tells the model something.
	Context
	// Ask lets the user decide.
	Ask
	// Deny refuses a tool call or permission.
	Deny
	// Block keeps the agent from stopping, or a prompt from being sent.
	Block
)

var verdicts = [...]string{"allow", "context", "ask", "deny", "block"}

// String is the verdict's name in the schema.
func (v Verdict) String() string { return verdicts[v] }

// A Decision is a verdict and its grounds. The zero Decision allows.
type Decision struct {
	Verdict Verdict
	// Policy is the id of the policy that decided; empty if none had a say.
	Policy string
	// Rule names what in the policy applied.
	Rule string
	// Text is the reason, or the context, as the model is to read it. It is
	// never empty for a verdict other than Allow.
	Text string
	// Observed: the verdict is recorded but not enforced.
	Observed bool
}

// Join returns the decision of d and then e: the stronger one, or both texts
// where both only have something to tell.
func (d Decision) Join(e Decision) Decision {
	switch {
	case e.Verdict > d.Verdict:
		return e
	case d.Verdict == Context && e.Verdict == Context:
		d.Text += "\n\n" + e.Text
	}
	return d
}
