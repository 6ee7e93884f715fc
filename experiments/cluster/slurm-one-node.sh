#!/usr/bin/env bash
# A Slurm cluster of this one machine, for trying array jobs: slurm-one-node.sh start DIR | stop DIR
# Needs root and Debian's packages: apt-get install slurm-wlm munge
# State, logs and configuration are below DIR; afterwards: export SLURM_CONF=DIR/slurm.conf
set -euo pipefail
action=${1:?start or stop} dir=$(realpath -m "${2:?the directory for its state}")
host=$(hostname -s)

stop() {
  for name in slurmd slurmctld munged; do
    [ -f "$dir/$name.pid" ] && kill "$(cat "$dir/$name.pid")" 2>/dev/null || true
  done
}

start() {
  mkdir -p "$dir"/{state,spool,log}
  chmod 755 "$dir"
  # munge insists on a key and a folder of its own.
  install -d -o munge -g munge -m 0755 "$dir/munge"
  head -c 1024 /dev/urandom >"$dir/munge/key"
  chown munge: "$dir/munge/key"; chmod 400 "$dir/munge/key"
  runuser -u munge -- munged --force --key-file "$dir/munge/key" --socket "$dir/munge/socket" \
    --pid-file "$dir/munge/pid" --log-file "$dir/munge/log" --seed-file "$dir/munge/seed"
  cp "$dir/munge/pid" "$dir/munged.pid"
  cat >"$dir/slurm.conf" <<CONF
ClusterName=trial
SlurmctldHost=$host
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/log/slurmctld
SlurmdLogFile=$dir/log/slurmd
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SlurmctldParameters=enable_configless
MinJobAge=3600
BatchStartTimeout=30
MpiDefault=none
JobRequeue=1
NodeName=$host CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
  export SLURM_CONF="$dir/slurm.conf"
  slurmctld -c
  slurmd
  for _ in $(seq 60); do
    sinfo --noheader --format %t 2>/dev/null | grep -qx idle && return
    sleep 1
  done
  sinfo; tail -n 20 "$dir"/log/*
  exit 1
}

case $action in
start) start ;;
stop) stop ;;
*) echo "$action: start or stop is expected" >&2; exit 64 ;;
esac
