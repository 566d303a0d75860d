// holds 3
procedure go() { call go(); }
procedure main() { call go(); assert false; }
