# shellcheck shell=bash
# Sourced by build.sh: what people install, each with a version from git, and
# their checksums. The same revision gives the same bytes.

package_limit=10000000 # bytes, of each file
package_kinds=(deb rpm archive setup app)
package_architectures=(amd64 arm64) # of Linux

# package_version DESCRIBED COUNT prints the version of packages for what
# version_of_tree printed: a form that dpkg, rpm and names of files accept, and
# that dpkg and rpm sort as we mean it. COUNT is the number of commits, which
# sorts what lies before the first tag. It fails for a tag that is no version.
package_version() {
  local described=${1#v} after='' dirty=''
  if [[ $described == *-dirty ]]; then
    described=${described%-dirty}
    dirty=yes
  fi
  if [[ $described =~ ^(.*)-([0-9]+)-g([0-9a-f]+)$ ]]; then
    described=${BASH_REMATCH[1]}
    after=+${BASH_REMATCH[2]}.${BASH_REMATCH[3]}
  elif [[ $described == *-dev+* ]]; then
    after=+${described#*+}
    described=${described%%+*}.$2
  fi
  [[ -z $dirty ]] || after=${after:-+0}.dirty
  [[ $described =~ ^([0-9]+\.[0-9]+\.[0-9]+)(-([0-9A-Za-z.-]+))?$ ]] || return 1
  local before=${BASH_REMATCH[3]//-/.}
  printf '%s\n' "${BASH_REMATCH[1]}${before:+~$before}$after"
}

# package_version_of_tree prints the version of the packages of this tree.
package_version_of_tree() {
  local described
  described=$(version_of_tree)
  package_version "$described" "$(git rev-list --count HEAD 2>/dev/null || echo 0)" ||
    die "$described is not a version" "name releases v1.2.3, then run this again"
}

# package_epoch exports SOURCE_DATE_EPOCH, which all that is packed is dated by:
# when the revision was made, so that packing it again gives the same bytes.
package_epoch() {
  export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 315532800)}
}

# package_licences GOOS GOARCH prints the licences of everything that is linked
# into the programs for that system.
package_licences() {
  local module version dir file found
  printf '%s\n\n' 'The programs of Lamplighter contain the following, each under its own licence.'
  printf '%s\n\n' "==== The Go programming language, $(go env GOVERSION)"
  cat "$(go env GOROOT)/LICENSE" || die "Go has no licence beside it" "install Go from https://go.dev/dl/"
  env GOOS="$1" GOARCH="$2" CGO_ENABLED=0 go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' ./app ./app/connect |
    LC_ALL=C sort -u | while read -r module version dir; do
      found=
      for file in "$dir"/LICEN[CS]E* "$dir"/COPYING* "$dir"/NOTICE*; do
        [[ -f $file ]] || continue
        found=yes
        printf '\n==== %s %s: %s\n\n' "$module" "$version" "${file##*/}"
        cat "$file"
      done
      [[ -n $found ]] || die "$module has no licence in $dir" "say in build/package.sh where it is"
    done
}

# build_linux DIR VERSION [ARCH] builds both programs for Linux.
build_linux() {
  local build=(env GOOS=linux GOARCH="${3:-$(go env GOARCH)}" CGO_ENABLED=0 go build -trimpath -ldflags "-s -w $(stamped "$2")")
  mkdir -p "$1"
  { "${build[@]}" -o "$1/lamplighter" ./app && "${build[@]}" -o "$1/lamplighter-connect" ./app/connect; } ||
    die "the build for Linux failed" "see the messages of the compiler above"
}

# package_share KIND VERSION DIR lays out DIR/share, and for a package of the
# system DIR/lib: all that is not a program.
package_share() {
  local kind=$1 version=$2 dir=$3 size icons=$3/share/icons/hicolor doc=$3/share/doc/lamplighter
  go run ./installer/gen --kind "$kind" --version "$version" "$dir" ||
    die "what lies around the programs could not be made" "see above"
  for size in 16 22 24 32 48 64 128 256; do
    install -D -m 644 "icons/app/lamplighter-$size.png" "$icons/${size}x$size/apps/lamplighter.png"
  done
  install -D -m 644 icons/app/lamplighter.svg "$icons/scalable/apps/lamplighter.svg"
  install -D -m 644 LICENSE "$doc/copyright"
  package_licences linux amd64 | gzip -9n >"$doc/licences-of-libraries.gz"
  find "$dir/share/man" -type f -exec gzip -9n {} +
}

# package_dated DIR gives all that lies in DIR the modes and the time that it has
# in packages, whatever the umask is.
package_dated() {
  find "$1" -type d -exec chmod 755 {} +
  find "$1" -type f -exec chmod u=rwX,go=rX {} +
  find "$1" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
}

# package_tar DIR FILE packs the folder DIR, which is named in the archive. gzip
# itself would make it some percent larger.
package_tar() {
  local compress=(gzip -9n)
  ! command -v libdeflate-gzip >/dev/null || compress=(libdeflate-gzip -12 -c)
  package_dated "$1"
  tar --create --directory "$(dirname "$1")" --sort=name --owner=0 --group=0 --numeric-owner --format=gnu "$(basename "$1")" | "${compress[@]}" >"$2"
}

# package_deb_changelog VERSION is what Debian wants to have, for a package that
# is made from the tree itself.
package_deb_changelog() {
  printf 'lamplighter (%s) unstable; urgency=medium\n\n  * As of this version; git has the history.\n\n -- %s  %s\n' \
    "$1" "$(sed -n 's/^maintainer: //p' installer/package/nfpm.yaml)" "$(LC_ALL=C date -u -R --date="@$SOURCE_DATE_EPOCH")"
}

# package_system KIND ARCH VERSION FILE makes one deb or rpm of what lies in
# package_work; with package_quick it is made quickly, and large.
package_system() {
  local kind=$1 arch=$2 version=$3 file=$4 dir
  dir=$(mktemp -d "$package_work/$kind-$arch.XXXXXX")
  mkdir -p "$dir/usr/bin"
  cp -R "$package_work/$kind/." "$dir/usr"
  cp "$package_work/programs-$arch"/* "$dir/usr/bin"
  local doc=$dir/usr/share/doc/lamplighter
  if [[ $kind == deb ]]; then
    cp installer/package/copyright "$doc/copyright"
    package_deb_changelog "$version" | gzip -9n >"$doc/changelog.gz"
    install -D -m 644 installer/package/lintian-overrides "$dir/usr/share/lintian/overrides/lamplighter"
  else
    mkdir -p "$dir/usr/share/licenses/lamplighter"
    mv "$doc/copyright" "$dir/usr/share/licenses/lamplighter/LICENSE"
    mv "$doc/licences-of-libraries.gz" "$dir/usr/share/licenses/lamplighter"
    rmdir "$doc"
  fi
  package_dated "$dir"
  # nfpm takes what is named in its file from the current folder.
  mkdir "$dir/package"
  cp installer/package/p*.sh "$dir/package"
  # Debian's summary is the first line of the description, and rpm has one of its own.
  local edits=(-e '')
  [[ $kind == deb ]] || edits+=(-e '/^description:/{n;d}')
  [[ -z ${package_quick-} ]] || edits+=(-e 's/^  compression: .*/  compression: gzip:1/')
  sed "${edits[@]}" installer/package/nfpm.yaml >"$dir/package/nfpm.yaml"
  (cd "$dir" && LAMPLIGHTER_VERSION=$version LAMPLIGHTER_ARCH=$arch quietly "nfpm-$kind-$arch.log" "$cache/bin/nfpm" package \
    --config package/nfpm.yaml --packager "$kind" --target "$file") ||
    die "the $kind for $arch could not be made" "see above"
}

# package_linux VERSION OUT KIND… makes the packages of these kinds (deb, rpm,
# archive) for both architectures.
package_linux() {
  local version=$1 out=$2 arch kind one
  shift 2
  need_package_tools "$@" || exit
  for arch in "${package_architectures[@]}"; do
    build_linux "$package_work/programs-$arch" "$(version_of_tree)" "$arch"
  done
  for kind; do
    say "making $kind"
    mkdir "$package_work/$kind"
    package_share "$kind" "$version" "$package_work/$kind"
    local pending=()
    for arch in "${package_architectures[@]}"; do
      package_one "$kind" "$arch" "$version" "$out" &
      pending+=($!)
    done
    for one in "${pending[@]}"; do wait "$one" || die "a $kind could not be made" "see above"; done
  done
}

# package_one KIND ARCH VERSION OUT makes one package in OUT.
package_one() {
  local kind=$1 arch=$2 version=$3 out=$4 machine=x86_64 top
  [[ $arch == amd64 ]] || machine=aarch64
  case $kind in
    deb) package_system deb "$arch" "$version" "$out/lamplighter_${version}_$arch.deb" ;;
    rpm) package_system rpm "$arch" "$version" "$out/lamplighter-$version.$machine.rpm" ;;
    archive)
      top=$package_work/lamplighter-$version-linux-$arch
      mkdir -p "$top/bin"
      cp -R "$package_work/archive/." "$top"
      cp "$package_work/programs-$arch"/* "$top/bin"
      cp LICENSE installer/package/install.sh "$top"
      package_tar "$top" "$out/${top##*/}.tar.gz"
      ;;
  esac
}

# package_sums OUT checks the size of all that lies in OUT, and writes their
# checksums.
package_sums() {
  local file size sum=(sha256sum)
  command -v sha256sum >/dev/null || sum=(shasum -a 256)
  for file in "$1"/lamplighter[-_]*; do
    [[ -f $file ]] || die "there is no package in $1" "run: ./build.sh package"
    size=$(wc -c <"$file")
    ((size <= package_limit)) || die "${file##*/} has $((size)) bytes, more than $package_limit" "find out what made it grow"
    printf 'package: %-52s %5d kB\n' "${file##*/}" $((size / 1000))
  done
  (cd "$1" && "${sum[@]}" -- lamplighter[-_]* | LC_ALL=C sort -k 2 >SHA256SUMS)
}

# package_here prints the kinds that can be made on this system.
package_here() {
  case $(uname -s) in
    Linux) echo deb rpm archive setup ;;
    Darwin) echo app ;;
    *) echo setup ;;
  esac
}

# do_package [KIND…] makes the packages of these kinds, by default of all that
# this system can make, in dist.
do_package() {
  local kind kinds=("$@") version out=$root/dist
  need_go
  for kind; do
    [[ " ${package_kinds[*]} sums " == *" $kind "* ]] || die "there is no package of the kind $kind" "run: ./build.sh package [${package_kinds[*]}]"
  done
  if ((${#kinds[@]} == 0)); then
    read -ra kinds <<<"$(package_here)"
    rm -rf "$out"
  fi
  mkdir -p "$out"
  if [[ ${kinds[*]} != sums ]]; then
    version=$(package_version_of_tree) || exit 1
    package_into "$version" "$out" "${kinds[@]}"
  fi
  package_sums "$out"
}

# package_into VERSION OUT KIND… makes packages in OUT, which is there. The archive
# for Windows comes with its setup, and that for macOS with its application.
package_into() {
  local version=$1 out=$2 kind linux=()
  shift 2
  package_epoch
  mkdir -p "$cache"
  package_work=$(mktemp -d "$cache/package.XXXXXX")
  trap 'rm -rf "$package_work"' EXIT
  for kind; do
    case $kind in
      deb | rpm | archive) linux+=("$kind") ;;
      setup) package_windows "$version" "$out" ;;
      app) package_macos "$version" "$out" ;;
    esac
  done
  ((${#linux[@]} == 0)) || package_linux "$version" "$out" "${linux[@]}"
  rm -rf "$package_work"
}

# need_package_tools KIND… installs what packages for Linux of these kinds are made with.
need_package_tools() (
  [[ $(uname -s) == Linux ]] || die "packages for Linux are made on Linux" "run: ./build.sh package $(package_here)"
  locked
  need_debian "${debian_package[@]}"
  case " $* " in
    *' deb '* | *' rpm '*) need_go_tools nfpm ;;
  esac
)

# test_package_versions compares the versions of packages with what was meant, and
# has dpkg and rpm sort them.
test_package_versions() {
  local described want got last='' order
  while read -r described want; do
    got=$(package_version "$described" 324) || got=none
    [[ $got == "$want" ]] || die "$described becomes $got, not $want" "see package_version in build/package.sh"
    [[ $want != none ]] || continue
    [[ -z $last ]] || dpkg --compare-versions "$last" lt "$want" || die "dpkg does not sort $last before $want" "see package_version in build/package.sh"
    order=$(rpm --eval "%{lua:print(rpm.vercmp('${last:-0}', '$want'))}")
    [[ $order == -1 ]] || die "rpm does not sort ${last:-0} before $want" "see package_version in build/package.sh"
    last=$want
  done <<'TABLE'
0.1.0-dev+abc1234 0.1.0~dev.324+abc1234
0.1.0-dev+abc1234-dirty 0.1.0~dev.324+abc1234.dirty
v0.1.0-rc.1 0.1.0~rc.1
v0.1.0-rc.1-3-gabc1234 0.1.0~rc.1+3.abc1234
v0.1.0 0.1.0
v1.2.3 1.2.3
v1.2.3-dirty 1.2.3+0.dirty
v1.2.3-4-gabc1234 1.2.3+4.abc1234
v1.2.3-4-gabc1234-dirty 1.2.3+4.abc1234.dirty
1.2.4 1.2.4
v1.10.0-beta-2 1.10.0~beta.2
nightly none
v1.2 none
1.2.3;rm none
TABLE
}

# test_packages [twice] makes the packages for Linux and installs them in throw-away
# machines; twice, it first makes them once more, which must give the same bytes.
test_packages() {
  need_go
  (
    locked
    need_debian "${debian_isolated[@]}" "${debian_package_tests[@]}"
    need_wine # the Debian that the packages are installed in
  ) || exit
  local start=$SECONDS out=$cache/packages version log=$cache/packages.log
  version=$(package_version_of_tree) || exit
  test_package_versions
  say "making the packages (all of it: $log)"
  rm -rf "$out"
  mkdir -p "$out/new" "$out/again" "$out/older"
  : >"$log"
  package_into "$version" "$out/new" deb rpm archive >>"$log"
  package_sums "$out/new"
  if [[ ${1-} == twice ]]; then
    # What is around must not matter.
    (
      umask 077
      export TZ=Asia/Tokyo
      package_into "$version" "$out/again" deb rpm archive
      package_sums "$out/again"
    ) >>"$log"
    cmp "$out/new/SHA256SUMS" "$out/again/SHA256SUMS" || die "the same source has given other packages" "compare $out/new with $out/again, for instance by diffoscope"
  fi
  local package_architectures=(amd64) package_quick=yes
  package_into 0.0.1 "$out/older" deb rpm >>"$log"
  "$root/build/package-linux-test.sh" "$out/new" "$out/older" "$version" "$cache/wine" || die "a package failed" "see above"
  rm -rf "$out"
  say "the tests of the packages took $((SECONDS - start)) s"
}
