"""Bodies of requests and answers: decoding of text and protobuf, Go's zero values, other versions, and Go's internal structs."""
