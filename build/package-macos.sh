# shellcheck shell=bash
# Sourced by build.sh: the application bundle for macOS, its package and its
# archive. A Mac has bash 3.2, and not GNU's tools.

# macos_number VERSION prints what a bundle may have for a version: 1.2.3~dev+abc
# is 1.2.3.
macos_number() {
  local number
  number=$(windows_number "$1")
  printf '%s\n' "${number%.0}"
}

# macos_programs DIR builds both programs for both kinds of Macs, each as one file
# for both. The tray needs the C of macOS, and with it a Mac.
macos_programs() {
  local arch linked
  [[ $(uname -s) == Darwin ]] ||
    die "packages for macOS are made on a Mac: the tray needs its compiler" "here, run: ./build.sh package"
  command -v lipo >/dev/null || die "lipo was not found" "run: xcode-select --install"
  linked="-s -w $(stamped "$(version_of_tree)")"
  for arch in arm64 amd64; do
    mkdir -p "$1/$arch"
    { env GOOS=darwin GOARCH="$arch" CGO_ENABLED=1 go build -trimpath -ldflags "$linked" -o "$1/$arch/lamplighter" ./app &&
      env GOOS=darwin GOARCH="$arch" CGO_ENABLED=0 go build -trimpath -ldflags "$linked" -o "$1/$arch/lamplighter-connect" ./app/connect; } ||
      die "the build for macOS on $arch failed" "see the messages of the compiler above"
  done
  local name
  for name in lamplighter lamplighter-connect; do
    lipo -create -output "$1/$name" "$1/arm64/$name" "$1/amd64/$name" || die "$name could not be made for both kinds of Macs" "see above"
  done
  rm -r "$1/arm64" "$1/amd64"
}

# macos_filled FILE VERSION prints one of our files for macOS with its version.
macos_filled() { sed "s|@NUMBER@|$(macos_number "$2")|g" "installer/package/macos/$1"; }

# macos_app APP VERSION PROGRAMS lays out the application bundle APP.
macos_app() {
  local contents=$1/Contents
  mkdir -p "$contents/MacOS" "$contents/Resources"
  macos_filled Info.plist.in "$2" >"$contents/Info.plist"
  printf 'APPL????' >"$contents/PkgInfo"
  cp "$3/lamplighter" "$3/lamplighter-connect" "$contents/MacOS"
  chmod 755 "$contents"/MacOS/*
  cp icons/app/lamplighter.icns LICENSE "$contents/Resources"
  package_licences darwin arm64 >"$contents/Resources/licences-of-libraries.txt"
}

# macos_dated DIR gives all in DIR one time. SOURCE_DATE_EPOCH says which.
macos_dated() {
  local at
  at=$(date -u -r "$SOURCE_DATE_EPOCH" +%Y%m%d%H%M.%S)
  TZ=UTC find "$1" -exec touch -h -t "$at" {} +
}

# macos_pkg APP VERSION FILE makes the package that Installer opens. It is signed
# only where LAMPLIGHTER_SIGN_APP and LAMPLIGHTER_SIGN_PKG name identities of the
# keychain; without them Gatekeeper asks whoever opens it.
macos_pkg() {
  local work=$package_work/pkg sign=()
  mkdir -p "$work/root/Applications" "$work/resources"
  cp -R "$1" "$work/root/Applications"
  cp LICENSE "$work/resources"
  macos_filled distribution.xml.in "$2" >"$work/distribution.xml"
  [[ -z ${LAMPLIGHTER_SIGN_PKG-} ]] || sign=(--sign "$LAMPLIGHTER_SIGN_PKG")
  { quietly pkgbuild.log pkgbuild --root "$work/root" --component-plist installer/package/macos/component.plist \
    --identifier lamplighter --version "$(macos_number "$2")" --install-location / "$work/lamplighter-component.pkg" &&
    quietly productbuild.log productbuild --distribution "$work/distribution.xml" --resources "$work/resources" \
      --package-path "$work" ${sign[@]+"${sign[@]}"} "$3"; } ||
    die "the package for macOS could not be made" "see above"
}

# macos_archive VERSION PROGRAMS FILE packs what ./install.sh installs from.
macos_archive() {
  local top
  top=$package_work/$(basename "$3" .tar.gz)
  mkdir -p "$top/bin"
  go run ./installer/gen --kind archive --version "$1" "$top" || die "what lies around the programs could not be made" "see above"
  find "$top/share/man" -type f -exec gzip -9n {} +
  cp "$2/lamplighter" "$2/lamplighter-connect" "$top/bin"
  cp LICENSE installer/package/install.sh "$top"
  package_licences darwin arm64 >"$top/licences-of-libraries.txt"
  chmod 755 "$top"/bin/* "$top/install.sh"
  macos_dated "$top"
  # Without the files that hold what only a Mac knows of others.
  (cd "$package_work" && find "${top##*/}" -type f | LC_ALL=C sort |
    COPYFILE_DISABLE=1 tar --uid 0 --gid 0 --uname '' --gname '' -cf - -T -) | gzip -n9 >"$3"
}

# package_macos VERSION OUT makes the package and the archive for macOS, with
# package_work to work in.
package_macos() {
  local built=$package_work/macos app=$package_work/Lamplighter.app
  say "making app"
  mkdir "$built"
  macos_programs "$built"
  macos_app "$app" "$1" "$built"
  codesign --force --options runtime --sign "${LAMPLIGHTER_SIGN_APP:--}" "$app/Contents/MacOS/lamplighter-connect" "$app" ||
    die "the application could not be signed" "see above"
  macos_dated "$app"
  macos_pkg "$app" "$1" "$2/lamplighter-$1-macos.pkg"
  macos_archive "$1" "$built" "$2/lamplighter-$1-macos.tar.gz"
}

# test_macos checks what can be checked without a Mac: the layout of the bundle,
# with programs in which the half of the tray that is C has a stand-in, and the
# files that the system reads.
test_macos() (
  (
    locked
    need_debian "${debian_python[@]}"
  ) || exit
  say "checking what is packed for macOS"
  package_epoch
  package_work=$(mktemp -d "$cache/package.XXXXXX")
  trap 'rm -rf "$package_work"' EXIT
  darwin_stub || die "there is no stand-in for the tray of macOS" "see above"
  local build=(env GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 go build -trimpath)
  { "${build[@]}" -modfile "$cache/darwin/go.mod" -ldflags "-s -w" -o "$package_work/lamplighter" ./app &&
    "${build[@]}" -ldflags "-s -w" -o "$package_work/lamplighter-connect" ./app/connect; } ||
    die "the build for macOS failed" "see the messages of the compiler above"
  macos_app "$package_work/Lamplighter.app" 1.2.3~dev.4+abc "$package_work"
  macos_filled distribution.xml.in 1.2.3~dev.4+abc >"$package_work/distribution.xml"
  python3 build/check-macos.py "$package_work" 1.2.3 installer/package/macos/component.plist ||
    die "what is packed for macOS is not right" "see above"
  if (package_macos 1.2.3 "$package_work") >"$package_work/said" 2>&1; then
    die "a package for macOS was made without a Mac" "see macos_programs in build/package-macos.sh"
  fi
  grep -q 'made on a Mac' "$package_work/said" || die "the reason is not said: $(<"$package_work/said")" "see macos_programs in build/package-macos.sh"
)
