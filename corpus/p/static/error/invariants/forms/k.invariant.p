Watch == null || this == Client //~ unknown-name //~ this-outside-machine
