package ask

const exe = ".exe"
