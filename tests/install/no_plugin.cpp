// A shared object that is no plugin.
int answer() { return 42; }
