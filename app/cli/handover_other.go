//go:build !linux

package cli

import "context"

// handedOver: nobody here could start us in our place.
func (p *program) handedOver(context.Context) bool { return false }

// notBySocket: no socket starts us that could be stopped without us.
func (p *program) notBySocket(context.Context) error { return nil }

// listenOurselves: nobody listens here for us, who would not have passed the socket.
func (p *program) listenOurselves(context.Context) error { return nil }
