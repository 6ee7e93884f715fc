// Nothing to call: what it does, it does before the first test.
