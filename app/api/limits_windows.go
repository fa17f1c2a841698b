package api

// systemLimits are the greatest: Windows counts no descriptors.
func systemLimits() limits { return limits{mostStreams, mostConnections} }
