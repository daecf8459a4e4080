"""Objects as they are sent: read from texts and protobuf, with the zero values that Go writes, in other versions, and as Go holds them."""
