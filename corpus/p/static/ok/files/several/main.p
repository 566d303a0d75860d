machine Main { start state S { entry { send new Server(), Ping, this; } ignore Pong; } }
