"""resourcequota-controller: keeps what is used of each quota."""
