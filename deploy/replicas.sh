#!/bin/sh
# Two replicas and nginx as plain processes: what compose.yaml does, where there is no Docker.
# PORT=8501 (replicas on the next two), ADDRESS=127.0.0.1, WARM= for a quick start. Ctrl+C ends all of it.
# A replica that ends is started again without --warm: opening every experiment would take processors from
# the one that serves everybody meanwhile.
set -eu
port=${PORT:-8501} folder=$(mktemp -d) PATH=$PATH:/usr/sbin
sed -e 's/app-[12]:/127.0.0.1:/g' -e "s/9001/$((port + 1))/g" -e "s/9002/$((port + 2))/g" \
    -e "s/listen 8501/listen ${ADDRESS:-127.0.0.1}:$port/" "$(dirname "$0")/nginx.conf" > "$folder/nginx.conf"
replica() {
    trap 'kill $child 2>/dev/null; wait; exit' TERM
    warm=${WARM---warm}
    while :; do
        fairfl app --headless $warm --address 127.0.0.1 --port "$1" & child=$!
        wait $child || echo "The replica on port $1 ended with status $?; it is started again." >&2
        sleep 1; warm=''
    done
}
replica $((port + 1)) & one=$!; replica $((port + 2)) & two=$!
nginx -p "$folder" -c "$folder/nginx.conf" -g "daemon off; pid $folder/nginx.pid;" & door=$!
trap 'kill $one $two $door 2>/dev/null; wait; rm -r "$folder"; exit' INT TERM
wait
