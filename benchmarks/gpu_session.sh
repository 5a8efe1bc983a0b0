#!/usr/bin/env bash
# benchmarks/gpu_session.sh FOLDER [STEP...] : what a GPU that is there for a while is asked, most important first.
#
# smoke: whether it works at all, in two minutes. tests, matrix: every test that needs a GPU. kernels-K/N:
# every N-th kernel beside a copy, from the K-th on. bodies: files to the device and back. rows-K/N: every
# N-th row function of the corpus beside the CPU. sanitizer: the smoke tests under compute-sanitizer, where
# it is. Without STEP, all of them in this order.
#
# Whenever it is stopped, FOLDER has what was found so far: steps.txt says how each step ended, a log has
# each test, a JSON each figure. PYTHON names the interpreter, MINUTES the most that a step takes (8),
# WORKERS the processes that run tests or compile kernels (8). The status is 1 if a step failed,
# and 130 if a signal ended the session, which ends its step, too.
set -uo pipefail
cd "$(dirname "$0")/.."
folder=${1:?"usage: benchmarks/gpu_session.sh FOLDER [STEP...]"}
shift
steps=("$@")
[ $# -gt 0 ] || steps=(smoke tests kernels-{1,2}/2 bodies rows-{1,2}/2 matrix sanitizer)
python=${PYTHON:-python3}
mkdir -p "$folder"
failed=0

export COLKERN_TEST_DEVICE=cuda

# The arguments of `make test-gpu`.
of_makefile() { sed -n "s/^$1 := //p" Makefile; }

workers=${WORKERS:-8}
parallel=()
if "$python" -c "import xdist" 2>/dev/null; then
    parallel=(-n "$workers")
fi

run() { # STEP COMMAND...
    local name=${1//\//-} begin=$SECONDS status
    shift
    # In the background, as bash handles signals only while it waits.
    timeout --kill-after=30 "${MINUTES:-8}m" "$@" > >(tee "$folder/$name.log") 2>&1 &
    child=$!
    wait "$child"
    status=$?
    if [ -n "$stopped" ]; then
        wait "$child"
        echo "$name: stopped after $((SECONDS - begin)) s" | tee -a "$folder/steps.txt"
        exit 130
    fi
    echo "$name: status $status after $((SECONDS - begin)) s" | tee -a "$folder/steps.txt"
    [ "$status" = 0 ] || failed=1
}

child='' stopped=''
trap 'stopped=1; [ -z "$child" ] || kill "$child" 2> /dev/null' INT TERM HUP

tests() { # STEP ARGUMENTS...
    local step=$1
    shift
    run "$step" "$python" -m pytest -v --junitxml "$folder/$step.xml" "$@"
}

read -ra smoke <<< "$(of_makefile SMOKE_ON_GPU)"
read -ra all <<< "$(of_makefile ON_GPU)"
read -ra matrix <<< "$(of_makefile MATRIX_ON_GPU)"
for step in "${steps[@]}"; do
    case $step in
    smoke) tests smoke "${parallel[@]}" -m "gpu and smoke" "${smoke[@]}" ;;
    tests) tests tests "${parallel[@]}" "${all[@]}" ;;
    matrix) tests matrix "${parallel[@]}" "${matrix[@]}" ;;
    kernels-*)
        part=${step#kernels-}
        run "$step" "$python" -m benchmarks.gpu --part "$part" --jobs "$workers" \
            --json "$folder/kernels-${part//\//-}.json"
        ;;
    rows-*)
        part=${step#rows-}
        run "$step" "$python" -m benchmarks.gpu.rows --part "$part" --jobs "$workers" \
            --json "$folder/rows-${part//\//-}.json"
        ;;
    bodies) run bodies "$python" -m benchmarks.bodies --json "$folder/bodies.json" ;;
    sanitizer)
        if command -v compute-sanitizer > /dev/null; then
            run sanitizer compute-sanitizer --error-exitcode 1 "$python" -m pytest -v -m "gpu and smoke" "${smoke[@]}"
        else
            echo "sanitizer: compute-sanitizer is not installed" | tee -a "$folder/steps.txt"
        fi
        ;;
    *)
        echo "no step $step" >&2
        exit 2
        ;;
    esac
done
exit "$failed"
