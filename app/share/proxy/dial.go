package proxy

import (
	"context"
	"log/slog"

	"lamplighter/app/mcp"
	"lamplighter/app/share"
)

// dialer opens MCP sessions: package mcp, or what tests make of it.
type dialer interface {
	// open is mcp.Open.
	open(ctx context.Context, server share.Endpoint, receive func([]byte), initialize []byte) (upstreamSession, []byte, error)
}

// upstreamSession is what a session needs of an mcp.Server.
type upstreamSession interface {
	Version() string
	Listen()
	Begin(ctx context.Context, line []byte, each func(line []byte), ended func(error)) call
	Close(ctx context.Context)
}

// call is what it needs of an mcp.Call.
type call interface {
	Taken() <-chan struct{}
	Done() <-chan struct{}
	Err() error
}

type upstreamDialer struct{ log *slog.Logger }

func (d upstreamDialer) options(server share.Endpoint, receive func([]byte)) mcp.Options {
	return mcp.Options{URL: server.URL, Transport: server.Transport, Receive: receive, Log: d.log}
}

func (d upstreamDialer) open(ctx context.Context, server share.Endpoint, receive func([]byte), initialize []byte) (upstreamSession, []byte, error) {
	s, answer, err := mcp.Open(ctx, d.options(server, receive), initialize)
	if s == nil || err != nil {
		return nil, answer, err
	}
	return dialled{s}, answer, nil
}

type dialled struct{ *mcp.Server }

func (d dialled) Begin(ctx context.Context, line []byte, each func(line []byte), ended func(error)) call {
	return d.Server.Begin(ctx, line, each, ended)
}
