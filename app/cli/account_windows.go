package cli

// accountOf: an installation is for the account that runs it, with or without its
// administrator's rights.
func accountOf(string) account { return account{uid: -1, owner: -1} }
