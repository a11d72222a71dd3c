"""Put files in their place so that what stood there, or what comes, is always whole."""
