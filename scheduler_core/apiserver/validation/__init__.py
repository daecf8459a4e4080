"""What is wrong with an object, all of it, at its fields and in kube's words."""
