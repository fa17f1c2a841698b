# shellcheck shell=bash
# Sourced by build.sh: the programs for Windows with their resources, the setup
# and the archive.

debian_windows=(
  makensis:nsis
  '/usr/share/nsis/Stubs/lzma_solid-amd64-unicode:nsis-common'
)

# windows_number VERSION prints the four numbers that Windows compares versions
# by: 1.2.3~dev+abc is 1.2.3.0.
windows_number() {
  if [[ $1 =~ ^v?([0-9]+)\.([0-9]+)\.([0-9]+) ]]; then
    printf '%d.%d.%d.0\n' "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" "${BASH_REMATCH[3]}"
  else
    echo 0.0.0.0
  fi
}

# add_resources VERSION PROGRAM… gives programs for Windows their icon, manifest
# and version. That is done to the finished files: a .syso in the tree would get
# into all other builds.
add_resources() {
  local version=$1 number program name description dir
  shift
  (
    locked
    need_go_tools go-winres
  ) || exit
  number=$(windows_number "$version")
  dir=$(mktemp -d "$cache/winres.XXXXXX")
  for program; do
    name=${program##*/}
    name=${name%.exe}
    case $name in
      lamplighter-tray) description=Lamplighter ;;
      lamplighter-connect) description='Lamplighter, above one server' ;;
      *) description='Lamplighter, command line' ;;
    esac
    sed -e "s|@ICON@|lamplighter.ico|; s|@NUMBER@|$number|g; s|@VERSION@|$version|g; s|@NAME@|$name|g; s|@DESCRIPTION@|$description|g" \
      installer/package/winres/winres.json >"$dir/winres.json"
    cp icons/app/lamplighter.ico "$dir"
    "$cache/bin/go-winres" patch --no-backup --in "$dir/winres.json" "$program" ||
      die "$program could not be given its resources" "see above"
    chmod 755 "$program" # the tool makes the file anew
  done
  rm -r "$dir"
}

# need_windows_package installs what the packages for Windows are made with.
need_windows_package() (
  locked
  need_debian "${debian_windows[@]}"
)

# stage_windows DIR VERSION fills DIR with what is installed on Windows. VERSION is
# what the programs call themselves.
stage_windows() {
  build_windows "$1" "$2"
  sed 's/$/\r/' LICENSE >"$1/LICENSE.txt"
  package_licences windows amd64 | sed 's/\r*$/\r/' >"$1/licences-of-libraries.txt"
  printf 'setup\n' >"$1/package"
  package_dated "$1"
}

# windows_setup STAGE VERSION SETUP [-DQUICK] makes a setup program of what is staged.
windows_setup() {
  quietly makensis.log makensis -V2 -WX -NOCD \
    "-DVERSION=$2" "-DNUMBER=$(windows_number "$2")" "-DPROGRAMS=$1" \
    "-DICON=$root/icons/app/lamplighter.ico" "-DOUT=$3" "${@:4}" "$root/installer/package/lamplighter.nsi" ||
    die "the setup for Windows could not be made" "see above (all of it: $cache/makensis.log)"
}

# windows_archive STAGE ARCHIVE packs what is staged for who has no use for a
# setup: lamplighter install makes the program for the tray from the other one.
windows_archive() {
  local top
  top=$package_work/$(basename "$2" .tar.gz)
  mkdir "$top"
  cp "$1/lamplighter.exe" "$1/lamplighter-connect.exe" "$1"/*.txt installer/package/install.cmd "$top"
  package_tar "$top" "$2"
}

# package_windows VERSION OUT makes the setup and the archive for Windows, with
# package_work to work in.
package_windows() {
  say "making setup"
  need_windows_package || exit
  stage_windows "$package_work/windows" "$(version_of_tree)"
  windows_setup "$package_work/windows" "$1" "$2/lamplighter-$1-setup.exe"
  windows_archive "$package_work/windows" "$2/lamplighter-$1-windows-amd64.tar.gz"
}
