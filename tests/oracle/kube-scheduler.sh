#!/bin/sh
# Build the unmodified kube-scheduler of a release: sh tests/oracle/kube-scheduler.sh 1.34.2 /tmp/kube-scheduler
# Needs Go, and some minutes. The build is made in /tmp; the modules come as in build.sh.
set -eu
release=$1
path=$2
parts=0.${release#1.}
folder=$(mktemp -d)
go mod download "k8s.io/kubernetes@v$release"
mod=$(go env GOMODCACHE)/k8s.io/kubernetes@v$release/go.mod
cd "$folder"
{
  printf 'module scheduler\n\n'
  grep '^go ' "$mod"
  printf '\nrequire k8s.io/kubernetes v%s\n\n' "$release"
  sed -n '/^require (/,/^)/p' "$mod" | sed -E "s#(k8s.io/[a-z-]+) v0.0.0( |\$)#\1 v$parts\2#"
  echo 'replace ('
  grep -oE 'k8s.io/[a-z-]+ v0\.0\.0( |$)' "$mod" | sort -u | sed -E "s#^(k8s.io/[a-z-]+) .*#  \1 => \1 v$parts#"
  echo ')'
} > go.mod
printf 'package main\n\nimport _ "k8s.io/kubernetes/cmd/kube-scheduler/app"\n\nfunc main() {}\n' > main.go
go mod tidy
version=k8s.io/component-base/version
go build -ldflags "-s -w -X $version.gitVersion=v$release" -o "$path" k8s.io/kubernetes/cmd/kube-scheduler
rm -r "$folder"
