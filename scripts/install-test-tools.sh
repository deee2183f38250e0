#!/bin/sh
# Installs the tools that the tests use beyond Node, on Debian and Ubuntu: Chromium, Python with torch, nsys, a C
# compiler, openssl, ssh, make, Slurm; and in a virtual environment of the project (.test-tools) hatchling, mypy, ruff, perfetto, and
# what the Python package and its notebook need: pyarrow, pandas, nbclient, ipykernel.
# Without these the tests still pass, but skip some; their last lines list which.
#
#   scripts/install-test-tools.sh                   # uses sudo if not run as root
#   scripts/install-test-tools.sh --transformers    # also a newer torch, and transformers, in .test-tools
#
# Running it again installs only what is missing.
set -eu
cd "$(dirname "$0")/.."

SOURCES=/etc/apt/sources.list.d/stepscope-test-tools.sources
VENV=.test-tools

say() { printf '%s\n' "$*"; }
fail() {
  say "install-test-tools: $1" >&2
  say "  $2" >&2
  exit 1
}

with_transformers=no
for argument in "$@"; do
  case $argument in
    --transformers) with_transformers=yes ;;
    -h | --help) sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) fail "unknown option $argument" "See scripts/install-test-tools.sh --help." ;;
  esac
done

[ -r /etc/os-release ] || fail "this is not Debian or Ubuntu" "Install these yourself: Chromium, Python 3 with torch, nsys, a C compiler, openssl, ssh and its server, make, Slurm."
. /etc/os-release
case " $ID ${ID_LIKE:-} " in
  *" debian "* | *" ubuntu "*) ;;
  *) fail "$ID is neither Debian nor Ubuntu" "Install these yourself: Chromium, Python 3 with torch, nsys, a C compiler, openssl, ssh and its server, make, Slurm." ;;
esac

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}
is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# Installs nsys where Stepscope looks for it. Debian's package depends on the NVIDIA driver, which a machine without a GPU
# does not need, and which could break an existing driver. Therefore only its files are unpacked.
NSYS_FOLDER=/opt/nvidia/nsight-systems/debian
has_nsys() {
  for place in "$(command -v nsys)" /opt/nvidia/nsight-systems*/*/bin/nsys /usr/lib/nsight-systems/bin/nsys; do
    [ -x "$place" ] && return 0
  done
  return 1
}
# nsys is in Debian's non-free and Ubuntu's multiverse, which are disabled by default.
if [ "$ID" = ubuntu ]; then
  component=multiverse
  chromium=chromium-browser
  # Only as a snap, which Marionette cannot give a profile folder.
  firefox=
  archive=http://archive.ubuntu.com/ubuntu
else
  component=non-free
  chromium=chromium
  firefox=firefox-esr
  archive=http://deb.debian.org/debian
fi
wants_nsys=no
if [ "$(dpkg --print-architecture)" != amd64 ]; then
  has_nsys || say "nsys: $ID packages it only for amd64; its tests will be skipped."
else
  has_nsys || wants_nsys=yes
fi

missing=
for package in bash gcc git libc6-dev make munge openssh-client openssh-server openssl procps python3 python3-pip python3-torch python3-venv slurm-wlm "$chromium" $firefox; do
  is_installed "$package" || missing="$missing $package"
done

unpack_nsys() {
  folder=$(mktemp -d)
  (cd "$folder" && apt-get download -qq nsight-systems nsight-systems-target 2>/dev/null) ||
    fail "apt could not download nsight-systems" "Is there a network? Is $component of $VERSION_CODENAME reachable?"
  for package in "$folder"/*.deb; do dpkg -x "$package" "$folder/unpacked"; done
  lib=$folder/unpacked/usr/lib
  as_root mkdir -p "$NSYS_FOLDER"
  as_root mv "$lib/nsight-systems/bin" "$lib/nsight-systems/host-linux-x64" \
    "$lib/x86_64-linux-gnu/nsight-systems/target-linux-x64" "$NSYS_FOLDER/"
  # The only link to a file outside the package.
  as_root ln -sf /usr/lib/x86_64-linux-gnu/libssh.so.4 "$NSYS_FOLDER/host-linux-x64/libssh.so"
  rm -rf "$folder"
}

if [ -n "$missing" ] || [ $wants_nsys = yes ]; then
  if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
    fail "installing$missing nsys needs root, and sudo is not available" "Run it as root."
  fi
  if [ $wants_nsys = yes ] && [ ! -e "$SOURCES" ]; then
    printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: %s\nSigned-By: %s\n' "$archive" "$VERSION_CODENAME" \
      "$component" "/usr/share/keyrings/$ID-archive-keyring.gpg" | as_root tee "$SOURCES" >/dev/null
    say "added $component of $VERSION_CODENAME to apt, for nsight-systems ($SOURCES)"
  fi
  # Other apt sources may be unreachable; only the presence of the packages afterwards matters.
  as_root apt-get -o DPkg::Lock::Timeout=300 update -qq || say "apt-get update: some sources did not respond"
  if [ $wants_nsys = yes ]; then
    # The libraries that nsys links to, without nsight-systems-target, which installs the driver.
    libraries=$(apt-cache depends nsight-systems | sed -n 's/^ *Depends: \(lib[^<]*\)$/\1/p' | tr '\n' ' ')
    [ -n "$libraries" ] || fail "apt does not find nsight-systems" "Is there a network? Is $component of $VERSION_CODENAME reachable?"
    missing="$missing $libraries"
  fi
  say "installing$missing"
  # shellcheck disable=SC2086
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends \
    $missing >/dev/null || fail "apt could not install everything" "Is there a network? The lines above show what apt could not find."
  if [ $wants_nsys = yes ]; then
    say "unpacking nsys into $NSYS_FOLDER"
    unpack_nsys
  fi
fi

tools='hatchling mypy ruff perfetto protobuf pyarrow pandas nbclient ipykernel'
if ! "$VENV/bin/python" -c "import $(echo "$tools" | sed 's/protobuf/google.protobuf/; s/ /, /g')" 2>/dev/null; then
  say "installing $tools into $VENV"
  # shellcheck disable=SC2086
  python3 -m venv "$VENV" &&
    "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check $tools ||
    fail "pip could not install $tools" "Is there a network?"
fi

if [ $with_transformers = yes ] && ! "$VENV/bin/python" -c 'import torch, transformers' 2>/dev/null; then
  say "installing torch and transformers into $VENV (several GB)"
  "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check torch 'transformers>=4.57' numpy ||
    fail "pip could not install torch and transformers" "Is there a network, and several GB of free disk space?"
fi
say "the test tools are installed"
