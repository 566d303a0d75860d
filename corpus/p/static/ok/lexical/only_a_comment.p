// nothing to see
