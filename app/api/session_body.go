package api

import (
	"errors"

	"lamplighter/app/payload"
)

// parseSessionOrder reads a SessionOrder, and passes over what else is said.
// That the path is absolute, and there, is seen by the manager.
func parseSessionOrder(body []byte) (SessionOrder, error) {
	var order struct {
		ProjectPath *string `json:"project_path"`
		Server      *string `json:"server"`
	}
	if err := payload.DecodeKnown(body, &order, "project_path", "server"); err != nil {
		return SessionOrder{}, err
	}
	switch {
	case order.ProjectPath == nil:
		return SessionOrder{}, errors.New("project_path is missing")
	case order.Server == nil:
		return SessionOrder{ProjectPath: *order.ProjectPath}, nil
	}
	return SessionOrder{ProjectPath: *order.ProjectPath, Server: *order.Server}, nil
}

// parseSessionID reads a SessionRelease, and passes over what else is said.
func parseSessionID(body []byte) (int, error) {
	var release struct {
		SessionID *int `json:"session_id"`
	}
	if err := payload.DecodeKnown(body, &release, "session_id"); err != nil {
		return 0, err
	}
	if release.SessionID == nil || *release.SessionID <= 0 {
		return 0, errors.New("session_id is missing, or no pid")
	}
	return *release.SessionID, nil
}
