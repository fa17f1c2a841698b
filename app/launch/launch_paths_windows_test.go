package launch

const absolutePath = `C:\`
