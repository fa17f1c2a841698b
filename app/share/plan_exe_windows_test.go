package share

const exe = ".exe"
