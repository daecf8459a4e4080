"""What a user has arranged besides objects, read and checked: what runs in the containers, what kubelets measure."""
