package ask

import "context"

// Forbids says why nothing may be shared now, as a part of a sentence; "" when it
// may be, and when ctx has ended.
func (a *Asker) Forbids(ctx context.Context) (why string) {
	why, _ = a.othersSee(ctx)
	return why
}
