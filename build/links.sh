# shellcheck shell=bash
# Sourced by build/lint.sh: does every relative link of the documents lead
# somewhere, to a file that git knows and to a heading in it?

# anchors FILE prints the anchor that each heading of FILE has on GitHub.
anchors() {
  awk '/^ *```/ { code = !code } !code && /^#+ / { sub(/^#+ +/, ""); print tolower($0) }' "$1" |
    sed -E 's/\]\([^)]*\)/]/g; s/[^[:alnum:] _-]//g; s/ /-/g'
}

# links FILE prints what FILE links to, one a line, without what stands in code.
links() {
  # shellcheck disable=SC2016 # they are no commands
  awk '/^ *```/ { code = !code; next } !code' "$1" | sed -E 's/`[^`]*`//g' | grep -oE '\]\([^) ]+\)' | sed -E 's/^\]\(|\)$//g'
}

# links_all prints each link that leads nowhere.
links_all() {
  local file link path target
  while read -r file; do
    while read -r link; do
      [[ $link != *:* ]] || continue
      path=${link%%#*}
      target=$file
      [[ -z $path ]] || target=$(dirname "$file")/$path
      if ! git ls-files --error-unmatch "$target" >/dev/null 2>&1; then
        printf '%s: %s: there is no such file\n' "$file" "$link"
      elif [[ $link == *'#'* ]] && ! anchors "$target" | grep -qxF -e "${link#*#}"; then
        printf '%s: %s: there is no such heading\n' "$file" "$link"
      fi
    done < <(links "$file")
  done < <(git ls-files '*.md')
}
