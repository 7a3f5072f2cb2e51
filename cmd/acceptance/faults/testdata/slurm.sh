#!/bin/bash
# A Slurm cluster of two nodes on this machine, for tests: slurm.sh start DIR [NODE=COMMAND...],
# slurm.sh stop DIR. It needs root, and Debian's slurm-wlm and munge; no service is used or
# changed. `source DIR/env` lets srun, sbatch and the others find it. A NODE's daemon is
# started by COMMAND if one is given, such as n2="unshare -m DIR/mount-first.sh".
set -euo pipefail
verb=${1:?start or stop} dir=$(realpath -m "${2:?a folder}")
shift 2

stop() {
	local pid
	for f in "$dir"/pid/*.pid; do
		[ -s "$f" ] || continue
		pid=$(cat "$f")
		if grep -qs "$dir" "/proc/$pid/cmdline"; then
			kill "$pid" 2>/dev/null || true
			for _ in $(seq 100); do [ -d "/proc/$pid" ] || break; sleep 0.1; done
			kill -9 "$pid" 2>/dev/null || true
		fi
		rm -f "$f"
	done
}

start() {
	[ "$(id -u)" = 0 ] || { echo "slurm.sh: it needs root" >&2; exit 1; }
	mkdir -p "$dir"/{pid,log,state,spool}
	chmod 755 "$dir" "$dir"/{pid,log,state,spool}
	head -c 1024 /dev/urandom >"$dir/munge.key"
	chmod 400 "$dir/munge.key"
	# The port of the controller, and those of the nodes above it.
	local port=${SLURM_TEST_PORT:-17000} memory
	memory=$(awk '/MemTotal/ {print int($2 / 1024)}' /proc/meminfo)
	cat >"$dir/slurm.conf" <<-CONF
		ClusterName=test
		SlurmctldHost=$(hostname -s)(127.0.0.1)
		SlurmctldPort=$port
		SlurmUser=root
		SlurmdUser=root
		AuthType=auth/munge
		# A job that is queued again waits until what proved it before has expired.
		AuthInfo=socket=$dir/munge.socket,cred_expire=5
		CredType=cred/munge
		StateSaveLocation=$dir/state
		SlurmdSpoolDir=$dir/spool/%n
		SlurmctldPidFile=$dir/pid/slurmctld.pid
		SlurmdPidFile=$dir/pid/%n.pid
		SlurmctldLogFile=$dir/log/slurmctld.log
		SlurmdLogFile=$dir/log/%n.log
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		SwitchType=switch/none
		MpiDefault=none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU
		SlurmdParameters=config_overrides
		JobAcctGatherType=jobacct_gather/none
		AccountingStorageType=accounting_storage/none
		JobRequeue=1
		KillWait=10
		ReturnToService=2
		SchedulerParameters=sched_interval=2,sched_min_interval=0,batch_sched_delay=0
		NodeName=n1 NodeAddr=127.0.0.1 NodeHostname=$(hostname -s) Port=$((port + 1)) CPUs=2 RealMemory=$memory
		NodeName=n2 NodeAddr=127.0.0.1 NodeHostname=$(hostname -s) Port=$((port + 2)) CPUs=2 RealMemory=$memory
		PartitionName=all Nodes=ALL Default=YES MaxTime=60 State=UP
	CONF
	echo "export SLURM_CONF='$dir/slurm.conf'" >"$dir/env"
	export SLURM_CONF="$dir/slurm.conf"
	munged --force --key-file="$dir/munge.key" --socket="$dir/munge.socket" --pid-file="$dir/pid/munged.pid" \
		--log-file="$dir/log/munged.log" --seed-file="$dir/munge.seed" 2>"$dir/log/munged.err"
	slurmctld -f "$dir/slurm.conf" -c
	local node before
	for node in n1 n2; do
		before=
		for arg in "$@"; do
			[ "${arg%%=*}" = $node ] && before=${arg#*=}
		done
		$before slurmd -f "$dir/slurm.conf" -N $node
	done
	for _ in $(seq 150); do
		[ "$(sinfo -h -N -o %t 2>/dev/null | grep -c idle)" = 2 ] && return
		sleep 0.2
	done
	echo "slurm.sh: the nodes are not ready:" >&2
	sinfo >&2
	tail -n 5 "$dir"/log/*.log >&2
	return 1
}

case $verb in
start) start "$@" || { stop; exit 1; } ;;
stop) stop ;;
*) echo "slurm.sh: start or stop" >&2; exit 2 ;;
esac
