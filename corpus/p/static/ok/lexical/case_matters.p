event ping;
event Ping;
machine Main { start state S { ignore ping, Ping; } }
