package share

// What is kept of the answers of a server, so that a client is answered while it
// starts. Clients decide what they are asked under, so that there are limits.
const (
	mostAnswers   = 16
	longestAnswer = 4 << 20  // bytes
	mostKept      = 32 << 20 // bytes, of all groups together
)

// cache holds answers of a server, by what was asked and under what. All belong
// to one state of the settings. The zero value is empty.
type cache struct {
	settings string // their fingerprint; "" is not known, and nothing is kept
	answers  map[question][]byte
}

type question struct{ method, under string }

// put keeps an answer that was given under these settings. The cache has it for
// itself from then on.
func (c *cache) put(settings string, q question, answer []byte) {
	if settings == "" || len(answer) > longestAnswer {
		return
	}
	if settings != c.settings || c.answers == nil {
		*c = cache{settings: settings, answers: map[question][]byte{}}
	}
	if _, known := c.answers[q]; !known && len(c.answers) >= mostAnswers {
		clear(c.answers)
	}
	c.answers[q] = answer
}

// get returns the answer, if it was given under the same settings.
func (c *cache) get(settings string, q question) ([]byte, bool) {
	if settings == "" || settings != c.settings {
		return nil, false
	}
	answer, ok := c.answers[q]
	return answer, ok
}

// size is how much is kept, in bytes.
func (c *cache) size() int {
	n := 0
	for q, answer := range c.answers {
		n += len(q.method) + len(q.under) + len(answer)
	}
	return n
}

func (c *cache) clear() { *c = cache{} }
