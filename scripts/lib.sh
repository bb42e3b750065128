# What every script here shares: headings, a lock, and the set-up of a machine. Sourced by bash, never run.
#
# Each need_* function makes one thing true and is quick when it already is. All state lies in .venv/ and .cache/ of this
# checkout; the only thing outside it that is ever changed is Debian packages, and those only as root.

set -euo pipefail
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$ROOT"
mkdir -p .cache
VENV="$ROOT/.venv"
# An exact version: anything looser lets pip take a build with gigabytes of GPU libraries where a CPU build is on offer.
TORCH="${TRAINMASTER_TORCH:-2.13.0}" TORCH="${TORCH#torch==}" TORCH="${TORCH%%+*}"
ACCELERATE=1.15.0
TORCH_GPU_SIZE="about 3 GB to download, 7 GB on the disk"
export PIP_DISABLE_PIP_VERSION_CHECK=1

if [ -t 2 ] && [ -z "${NO_COLOR:-}" ]; then BOLD=$'\e[1m' DIM=$'\e[2m' RED=$'\e[31m' PLAIN=$'\e[0m'; else BOLD='' DIM='' RED='' PLAIN=''; fi

# step TEXT: a heading with the time since the script began.
step() { printf '%s==> [%02d:%02d] %s%s\n' "$BOLD" $((SECONDS / 60)) $((SECONDS % 60)) "$*" "$PLAIN" >&2; }
note() { printf '%s    %s%s\n' "$DIM" "$*" "$PLAIN" >&2; }
# die TEXT: one sentence and out. Status 3 says "this machine lacks something", which is no failed test.
die() { printf '%s%s: %s%s\n' "$RED" "$(basename "$0")" "$*" "$PLAIN" >&2; exit 3; }

# bare_system FOLDER PACKAGES: a minimal system of this host's release with these packages, from the archive apt knows. As root.
bare_system() {
    local release site
    release="$(. /etc/os-release && echo "${VERSION_CODENAME:-}")"
    site="$(apt-get indextargets --format '$(CODENAME) $(SITE)' 'Created-By: Packages' | awk -v wanted="$release" '$1 == wanted {print $2; exit}')"
    [ -n "$site" ] || die "apt knows no archive of this host's release '$release'"
    step "A bare system: $release with $2"
    # What debootstrap mounts on the way goes with its namespace.
    quietly bare-system unshare --mount --propagation private debootstrap --variant=minbase --include="$2" "$release" "$1" "$site"
}

# kept ARGUMENT...: runs the script that says this anew, with these arguments, in such a way that nothing it starts outlives it.
kept() {
    local python status=0
    if [ -z "${TRAINMASTER_KEPT:-}" ] && python="$(find_python)"; then
        TRAINMASTER_KEPT=$$ "$python" "$ROOT/scripts/kept.py" "$ROOT/scripts/$(basename "$0")" "$@" || status=$?
        exit "$status"
    fi
    unset TRAINMASTER_KEPT
}

# lock, unlock: two scripts in one checkout must not set it up at the same time. It is held until unlock or the end.
lock() {
    command -v flock >/dev/null || return 0
    exec 9>"$ROOT/.cache/setup.lock"
    flock -n 9 || { note "waiting for another script that sets up this checkout"; flock 9; }
}
unlock() { exec 9>&- || true; }

# quietly NAME COMMAND...: its output goes to .cache/NAME.log and is shown only when it fails.
quietly() {
    local log="$ROOT/.cache/$1.log"
    shift
    "$@" >"$log" 2>&1 9>&- && return 0
    tail -n 25 "$log" >&2
    die "'$*' failed; the whole output is in ${log#"$ROOT"/}"
}

find_python() {
    local name
    for name in ${TRAINMASTER_PYTHON:-python3 python3.13 python3.12 python3.11}; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then command -v "$name"; return 0; fi
    done
    return 1
}

need_venv() {
    if "$VENV/bin/python" -c 'import pip' 2>/dev/null; then return 0; fi
    local python
    python="$(find_python)" || die "needs Python 3.11 or newer; on Debian 12 or Ubuntu 24.04: apt-get install python3 python3-venv"
    "$python" -c 'import ensurepip, venv' 2>/dev/null || need_debian python3-venv
    step "Creating the virtual environment .venv ($("$python" --version))"
    rm -rf "$VENV"
    quietly venv "$python" -m venv "$VENV"
}

# need_package SET EXTRAS [MORE...]: the package itself (editable) with the extras of pyproject.toml, and more
# requirements. Done again only when one of these or the Python changed.
need_package() {
    local set="$1" extras="$2" stamp="$VENV/.trainmaster-$1" wanted
    shift 2
    need_venv
    wanted="$( { cat pyproject.toml; echo "$extras $*"; "$VENV/bin/python" -VV; } | sha256sum)"
    if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then return 0; fi
    step "Installing the package${extras:+ with $extras}${*:+, $*} (a minute or two, once)"
    TRAINMASTER_SKIP_CONSOLE=1 quietly "pip-$set" "$VENV/bin/python" -m pip install --editable ".[$extras]" "$@"
    echo "$wanted" >"$stamp"
}

# need_torch: PyTorch, of the version $TORCH: the build for CPUs, wherever one can be had. The package index of PyPI has only the one for
# NVIDIA cards. Looked for: where pip is told to look, and in TRAINMASTER_TORCH_INDEX if that names one; then in PyTorch's own index, whose
# address uv knows. Where there is none, says how large the other one is and asks. Where nobody can be asked, it is taken only
# with TRAINMASTER_TORCH_LARGE=yes, which also answers in advance.
need_torch() {
    local pip=("$VENV/bin/python" -m pip) uv="$VENV/bin/uv" more=() offered answer
    "$VENV/bin/python" -c 'import importlib.metadata as have, sys; sys.exit(have.version("torch").partition("+")[0] != sys.argv[1])' "$TORCH" 2>/dev/null && return 0
    [ -z "${TRAINMASTER_TORCH_INDEX:-}" ] || more=(--extra-index-url "$TRAINMASTER_TORCH_INDEX")
    offered="$("${pip[@]}" index versions torch "${more[@]}" 2>"$ROOT/.cache/torch-index.log")" || true
    if grep -qwF "$TORCH+cpu" <<<"$offered"; then
        step "Installing PyTorch $TORCH for CPUs (some 200 MB to download, once)"
        quietly pip-torch "${pip[@]}" install "torch==$TORCH+cpu" "${more[@]}"
        return 0
    fi
    step "Looking for PyTorch $TORCH for CPUs in PyTorch's own package index"
    if "${pip[@]}" install -q uv >"$ROOT/.cache/uv.log" 2>&1 \
        && "$uv" pip install --python "$VENV/bin/python" --torch-backend cpu --no-deps "torch==$TORCH" >>"$ROOT/.cache/uv.log" 2>&1; then
        quietly pip-torch "${pip[@]}" install "torch==$TORCH" # what it needs
        return 0
    fi
    if [ -n "${TRAINMASTER_TORCH_INDEX:-}" ]; then note "the package index of TRAINMASTER_TORCH_INDEX has no torch $TORCH+cpu"; fi
    note "there is none to be had (.cache/uv.log); TRAINMASTER_TORCH_INDEX may name a package index that has torch $TORCH+cpu"
    note "the build for NVIDIA cards runs without a card, too: $TORCH_GPU_SIZE"
    answer="${TRAINMASTER_TORCH_LARGE:-}"
    if [ -z "$answer" ] && [ -t 0 ] && [ -t 2 ]; then read -r -p "    Install it? [y/N] " answer || echo >&2; fi
    [[ "$answer" = [yYjJ是]* ]] || die "needs PyTorch $TORCH in the environment $VENV. TRAINMASTER_TORCH_LARGE=yes installs the build for NVIDIA cards;" \
        "or put one there yourself: $VENV/bin/python -m pip install torch==$TORCH, with the --index-url that has it"
    step "Installing PyTorch $TORCH ($TORCH_GPU_SIZE, once)"
    quietly pip-torch "${pip[@]}" install "torch==$TORCH"
}

# need_accelerate: Hugging Face Accelerate of the version $ACCELERATE, for its example. After need_torch: what it needs is there
# then, and pip is held to that PyTorch.
need_accelerate() {
    "$VENV/bin/python" -c 'import importlib.metadata as have, sys; sys.exit(have.version("accelerate") != sys.argv[1])' "$ACCELERATE" 2>/dev/null && return 0
    step "Installing Accelerate $ACCELERATE for its example (once)"
    quietly pip-accelerate "$VENV/bin/python" -m pip install "accelerate==$ACCELERATE" "torch==$TORCH"
}

# need_node: a Node for the console's own tools: the one on PATH where it is new enough, else one from PyPI in .venv.
# Puts it on PATH.
need_node() {
    local dir
    if ! dir="$(node_dir)"; then
        step "Installing Node into .venv"
        quietly pip-node "$VENV/bin/python" -m pip install "$("$VENV/bin/python" -c 'import hatch_build; print(hatch_build.NODE_PACKAGE)')"
        dir="$(node_dir)" || die "needs Node 20.19 or newer on PATH; the one from PyPI does not run on this machine"
    fi
    case ":$PATH:" in *":$dir:"*) ;; *) export PATH="$dir:$PATH" ;; esac
}
node_dir() { "$VENV/bin/python" -c 'import hatch_build; print(hatch_build.node_directory())' 2>/dev/null; }

# need_provider: the certified OpenID provider that the tests of signing in start, in tests/oidc/node_modules.
need_provider() {
    local stamp="tests/oidc/node_modules/.of-lock" wanted
    need_node
    wanted="$(sha256sum <tests/oidc/package-lock.json)"
    if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then return 0; fi
    step "Installing the OpenID provider of the tests (once)"
    quietly provider npm --prefix tests/oidc ci
    echo "$wanted" >"$stamp"
}

# need_console, need_docs: the built console and documentation in trainmaster/api/static. Done again only when a source of it changed.
# TRAINMASTER_SKIP_CONSOLE=1: whatever is built already will do.
need_console() {
    [ -f console/package.json ] || { note "console/ is not here yet; the server will run without it"; return 0; }
    if is_built CONSOLE; then return 0; fi
    need_node
    step "Building the console (once)"
    quietly console "$VENV/bin/python" hatch_build.py console
}
need_docs() {
    if is_built DOCS; then return 0; fi
    need_package docs docs,server
    step "Building the documentation (once)"
    quietly docs "$VENV/bin/python" hatch_build.py docs
}
is_built() {
    [ "${TRAINMASTER_SKIP_CONSOLE:-}" = 1 ] || "$VENV/bin/python" -c "import sys, hatch_build, pathlib; sys.exit(not hatch_build.$1.is_fresh(pathlib.Path.cwd()))"
}

# ---- what has to come from the system -------------------------------------------------------------------------------

has_bubblewrap() { command -v bwrap >/dev/null; }
has_procps() { command -v ps >/dev/null; }
has_chromium_headless_shell() { command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null; }
has_postgresql() { command -v initdb >/dev/null || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null; }
has_slurmctld() { PATH="$PATH:/usr/sbin" command -v slurmctld >/dev/null; }
has_slurmd() { PATH="$PATH:/usr/sbin" command -v slurmd >/dev/null; }
has_slurmrestd() { PATH="$PATH:/usr/sbin" command -v slurmrestd >/dev/null; }
has_slurm_client() { command -v sbatch >/dev/null; }
has_nginx() { PATH="$PATH:/usr/sbin" command -v nginx >/dev/null; }
has_caddy() { command -v caddy >/dev/null; }
has_openssl() { command -v openssl >/dev/null; }
has_prometheus() { command -v prometheus >/dev/null && command -v promtool >/dev/null; }
has_zsh() { command -v zsh >/dev/null; }
has_fish() { command -v fish >/dev/null; }
has_git() { command -v git >/dev/null; }
has_podman() { command -v podman >/dev/null; }
has_runc() { PATH="$PATH:/usr/sbin" command -v runc >/dev/null; }
has_sudo() { command -v sudo >/dev/null; }
has_acl() { command -v getfacl >/dev/null; }
has_slurm_wlm_jwt_plugin() {
    local of
    for of in '/usr/lib*/*/slurm*' '/usr/lib*/slurm*' '/usr/local/lib*/slurm*' '/opt/slurm*/lib*/slurm'; do
        ! compgen -G "$of/auth_jwt.so" >/dev/null || return 0
    done
    return 1
}
has_debootstrap() { PATH="$PATH:/usr/sbin" command -v debootstrap >/dev/null; }
has_systemd_container() { command -v systemd-nspawn >/dev/null; }
has_libatomic1() { compgen -G '/lib*/*/libatomic.so.1' >/dev/null || compgen -G '/usr/lib*/libatomic.so.1' >/dev/null || compgen -G '/usr/lib*/*/libatomic.so.1' >/dev/null; } # for Playwright's own Node
has_munge() { PATH="$PATH:/usr/sbin" command -v munged >/dev/null; }
has_fonts_noto_cjk() { command -v fc-list >/dev/null && [ -n "$(fc-list :lang=zh family)" ]; }

# missing PACKAGE...: those of the Debian packages whose programs are not on this machine, however they came.
missing() {
    local package
    for package in "$@"; do "has_${package//-/_}" || printf '%s ' "$package"; done
}

# need_debian PACKAGE...: installs them as root on Debian or Ubuntu; elsewhere says how, and fails.
need_debian() {
    if ! command -v apt-get >/dev/null; then
        die "please install what Debian calls '$*' with this system's package manager, then start again"
    elif [ "$(id -u)" != 0 ]; then
        die "please run: sudo apt-get install $*"
    fi
    step "Installing Debian packages: $*"
    export DEBIAN_FRONTEND=noninteractive
    quietly apt-update apt-get update -q
    quietly apt-install apt-get install -q -y --no-install-recommends "$@"
}

# need_system PACKAGE...: installs what is missing, or ends with one sentence.
need_system() {
    local list
    read -r -a list <<<"$(missing "$@")" || true
    [ "${#list[@]}" = 0 ] || need_debian "${list[@]}"
}

# want_system PACKAGE...: as need_system, but only says so where it cannot be had: the product goes on without.
want_system() {
    local list
    read -r -a list <<<"$(missing "$@")" || true
    [ "${#list[@]}" = 0 ] || (need_debian "${list[@]}") || note "going on without; what that means is shown by: trainmaster doctor"
}

# free_port: a TCP port of the loopback interface that nobody listens on now.
free_port() { "$VENV/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
