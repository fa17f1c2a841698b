//go:build !linux

package daemon

import "context"

// handedOver: nobody here could start us in our place.
func (p *Program) handedOver(context.Context) bool { return false }

// StopSocket: no socket starts us that could be stopped without us.
func (p *Program) StopSocket(context.Context) error { return nil }

// listenOurselves: nobody listens here for us, who would not have passed the socket.
func (p *Program) listenOurselves(context.Context) error { return nil }
