# shellcheck shell=bash
# Sourced by build.sh: the demo.

do_demo() {
  local pictures=
  case ${1-} in
    '') ;;
    --screenshot)
      pictures=${2-}
      [[ -n $pictures ]] || die "--screenshot needs the folder for the pictures" "run: ./build.sh demo --screenshot DIR"
      ;;
    *) die "demo does not know $1" "run: ./build.sh demo [--screenshot DIR]" ;;
  esac
  [[ $(uname -s) == Linux ]] || die "the demo needs Linux" "elsewhere, run: ./build.sh run"
  do_build
  (
    locked
    need_go_tools gopls
    need_serena
    [[ -n $pictures ]] || exit 0
    need_debian "${debian_isolated[@]}" "${debian_desktop[@]}" "${debian_browser[@]}"
    need_uvx
    need_npx
    need_clients
  )
  if [[ -n $pictures ]]; then
    mkdir -p "$pictures"
    "$root/build/isolated.sh" "$root/build/screenshot.sh" "$(cd "$pictures" && pwd)" "$time_server" "${npm_servers[@]}"
    return
  fi

  say "starting three servers"
  trap demo_end EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  start_servers
  # Unix sockets allow 107 bytes, so the path is short. State and socket are the
  # demo's own, so that it works beside a lamplighter that runs already.
  demo_runtime=$(mktemp -d /tmp/lamp.XXXXXX)
  export LAMPLIGHTER_STATE_DIR=$demo/state LAMPLIGHTER_CONTROL_SOCKET=$demo_runtime/control.sock
  cat <<'TEXT'

You should see three lamps:
  green   street-lamps    live, with a Go project
  yellow  NO PROJECT      live, no project is active
  red     harbour-lights  suspended by a signal; it turns red by itself

TEXT
  if [[ -n ${DISPLAY-}${WAYLAND_DISPLAY-} && -n ${DBUS_SESSION_BUS_ADDRESS-} ]]; then
    echo "They are in the menu of the lantern in your panel. Ctrl-C ends the three servers and this lamplighter."
    demo_run
    wait "$demo_light" || die "lamplighter ended with status $?" "see its messages above"
  else
    demo_run 2>"$demo/lamplighter.log"
    if [[ -t 1 ]]; then
      echo "There is no desktop here, so this is \`lamplighter status --watch\`. Ctrl-C ends the three servers."
      bin/lamplighter status --watch
    else
      echo "There is no desktop here, so this is \`lamplighter status\`, once the third lamp is red:"
      for _ in {1..600}; do
        ! bin/lamplighter status --json | grep -q '"zombie"' || break
        sleep 0.1
      done
      bin/lamplighter status
    fi
  fi
}

# demo_run starts lamplighter, and then turns the third lamp red.
demo_run() {
  bin/lamplighter run &
  demo_light=$!
  suspend_red "$LAMPLIGHTER_CONTROL_SOCKET"
}

demo_end() {
  trap '' INT TERM HUP
  if [[ -n ${demo_light-} ]]; then
    kill -TERM "$demo_light" 2>/dev/null || true
    wait "$demo_light" 2>/dev/null || true
  fi
  end_servers
  [[ -z ${demo_runtime-} ]] || rm -rf "$demo_runtime"
}
