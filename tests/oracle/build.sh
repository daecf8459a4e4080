#!/bin/sh
# Build the oracle of a release of kube into a folder: sh tests/oracle/build.sh 1.37.2 /tmp/oracle
# Needs Go. k8s.io/kubernetes replaces its parts by folders of its own; here they are the modules of the same release.
set -eu
release=$1
folder=$2
here=$(cd "$(dirname "$0")" && pwd)
parts=0.${release#1.}
go mod download "k8s.io/kubernetes@v$release"
mod=$(go env GOMODCACHE)/k8s.io/kubernetes@v$release/go.mod
mkdir -p "$folder"
cd "$folder"
{
  printf 'module oracle\n\n'
  grep '^go ' "$mod"
  printf '\nrequire k8s.io/kubernetes v%s\n\n' "$release"
  sed -n '/^require (/,/^)/p' "$mod" | sed -E "s#(k8s.io/[a-z-]+) v0.0.0( |\$)#\1 v$parts\2#"
  echo 'replace ('
  grep -oE 'k8s.io/[a-z-]+ v0\.0\.0( |$)' "$mod" | sort -u | sed -E "s#^(k8s.io/[a-z-]+) .*#  \1 => \1 v$parts#"
  echo ')'
} > go.mod
# 1.34 has the mode of a nomination in another package; since 1.36 a cycle takes a pod of the queue.
drop=@old next=NextEntity heap=entityBackoffQ
case $release in
  1.34.*|1.35.*|1.36.*) drop=@new next=NextPod heap=podBackoffQ ;;
esac
mode=fwk subject='\&framework.QueuedPodInfo{PodInfo: info}' recorder=EventRecorderLogger
case $release in
  1.34.*) mode=framework subject=pod recorder=EventRecorder ;;
  1.35.*) subject=pod recorder=EventRecorder ;;
esac
sed -e "s/MODE/$mode/g" -e "s/SUBJECT/$subject/g" -e "s/RECORDER/$recorder/g" "$here/oracle.go.in" > main.go
mkdir -p timelines admit
sed -e "/\/\/$drop\$/d" -e "s/HEAP/$heap/" -e "s/NEXT/$next/g" -e "s/RECORDER/$recorder/g" "$here/timelines.go.in" > timelines/timelines_test.go
# The strategy of claims takes an authorizer since 1.36; pod groups are validated as 1.37 has them.
claims=@old groups=@none
case $release in
  1.34.*|1.35.*) claims=@new groups=@37 ;;
  1.36.*) groups=@37 ;;
esac
sed -e "/\/\/$claims\$/d" -e "/\/\/$groups\$/d" "$here/admit.go.in" > admit/main.go
go mod tidy
go build -o oracle .
go test -c -o timelines-oracle ./timelines
go build -o admit-oracle ./admit
