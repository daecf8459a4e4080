"""What tests of schedulers need, shipped with the package: builders of objects, and the driver of the conformance corpus."""
