"""Validation of Services, Ingresses, NetworkPolicies, EndpointSlices, and the addresses in them."""
