"""What takes away what nobody needs any more: dependents of owners that are gone, pods, the content of namespaces."""
