#!/bin/sh
# Runs the README's test command as on a machine with only Node: a clean clone in a folder with a space in its name, an
# empty home, an empty npm cache, only node, npm and sh on the path, and an unprivileged user if run as root.
#
#   scripts/test-bare.sh                     # with the node on the path
#   scripts/test-bare.sh /opt/node26/bin/node
set -eu
project=$(cd "$(dirname "$0")/.." && pwd)
node=$(command -v "${1:-node}") || { echo "test-bare: ${1:-node} not found" >&2; exit 2; }
# npm is written in JavaScript: any node runs it.
npm=$(readlink -f "$(command -v npm)")

top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
trap 'exit 130' INT TERM
mkdir "$top/bin" "$top/home" "$top/tmp" "$top/a folder"
ln -s "$node" "$top/bin/node"
ln -s "$(command -v sh)" "$top/bin/sh"
printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$top/bin/node" "$npm" >"$top/bin/npm"
chmod 755 "$top" "$top/bin/npm"
git clone -q "$project" "$top/a folder/stepscope"

as_ordinary_user() { "$@"; }
if [ "$(id -u)" = 0 ]; then
  chown -R nobody "$top"
  as_ordinary_user() { setpriv --reuid nobody --regid "$(id -g nobody)" --clear-groups "$@"; }
fi
echo "bare: node $("$node" --version), as $(as_ordinary_user id -un), in $top/a folder/stepscope"
cd "$top/a folder/stepscope"
as_ordinary_user env -i PATH="$top/bin" HOME="$top/home" TMPDIR="$top/tmp" npm_config_cache="$top/home/cache" \
  ${npm_config_registry:+npm_config_registry="$npm_config_registry"} ${NODE_EXTRA_CA_CERTS:+NODE_EXTRA_CA_CERTS="$NODE_EXTRA_CA_CERTS"} \
  STEPSCOPE_TEST_BARE=1 "$top/bin/sh" -c 'npm ci --no-audit --no-fund && npm test'
