"""The workbench: pages that change the cluster, the schedulers and the world around them."""
