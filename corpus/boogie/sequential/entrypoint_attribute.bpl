// fails 1 assert
procedure main() { }
procedure {:entrypoint} begin() { assert false; }
