# Starts an nginx for a live run, and makes its outages. To be sourced; needs nginx and python3.
#
#   start_nginx SPEED            a free port in $port, everything else in the temporary directory $nginx
#   nginx_does normal|503|silent|stopped
#   stop_nginx

# The scenario's capacity, burst and Retry-After.
: "${capacity:=20}" "${burst:=20}" "${retry_after:=10}"

start_nginx() {
  speed=$1
  nginx=$(mktemp -d)
  # nginx opens its logs before it is anybody; its workers must reach the sockets.
  chmod 755 "$nginx"
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  # A socket at which nobody ever answers.
  python3 -c 'import os, signal, socket, sys
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); os.chmod(sys.argv[1], 0o777); s.listen(4096); signal.pause()' "$nginx/silent.sock" &
  silent=$!
  nginx_config normal "limit_req zone=all burst=$((burst - 1)) nodelay; limit_req_status 429; error_page 429 = @limited; proxy_pass http://unix:$nginx/tapi.sock;"
  nginx_config 503 "return 503;"
  nginx_config silent "proxy_pass http://unix:$nginx/silent.sock; proxy_read_timeout 1d;"
  cp "$nginx/normal.conf" "$nginx/nginx.conf"
  nginx -p "$nginx" -c "$nginx/nginx.conf"
}

# A configuration in which uploads are treated by these directives.
nginx_config() {
  cat >"$nginx/$1.conf" <<CONF
worker_processes 1;
pid $nginx/pid;
error_log $nginx/error.log;
# A reload must not hang up on who waits: his own time-out has to.
worker_shutdown_timeout 60s;
events { worker_connections 16384; }
http {
  client_body_temp_path $nginx/body; proxy_temp_path $nginx/proxy; fastcgi_temp_path $nginx/fastcgi;
  uwsgi_temp_path $nginx/uwsgi; scgi_temp_path $nginx/scgi;
  client_body_buffer_size 1m;
  keepalive_timeout 0;
  # What nginx itself says: the judge of what the run has counted.
  log_format uploads '\$status \$http_x_retry_count \$http_authorization';
  access_log $nginx/access.log uploads;
  limit_req_zone \$server_addr zone=all:1m rate=$((capacity * speed))r/s;
  server {
    listen 127.0.0.1:$port backlog=16384;
    location / { $2 }
    location @limited { add_header Retry-After $retry_after always; return 429; }
  }
  server {
    listen unix:$nginx/tapi.sock backlog=16384;
    access_log off;
    location / { return 200 "{}"; }
  }
}
CONF
}

nginx_does() {
  case $1 in
  stopped) nginx -p "$nginx" -c "$nginx/nginx.conf" -s stop ;;
  *)
    cp "$nginx/$1.conf" "$nginx/nginx.conf"
    if [ -s "$nginx/pid" ] && kill -0 "$(cat "$nginx/pid")" 2>/dev/null; then
      nginx -p "$nginx" -c "$nginx/nginx.conf" -s reload
    else
      rm -f "$nginx/tapi.sock"
      nginx -p "$nginx" -c "$nginx/nginx.conf"
    fi
    ;;
  esac
}

stop_nginx() {
  [ -n "${nginx:-}" ] || return 0
  nginx -p "$nginx" -c "$nginx/nginx.conf" -s stop 2>/dev/null || true
  kill "$silent" 2>/dev/null || true
  rm -rf "$nginx"
  nginx=
}
