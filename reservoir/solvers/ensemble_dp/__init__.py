"""Dynamic programming of an ensemble of futures: the value of storage now under each of them."""
