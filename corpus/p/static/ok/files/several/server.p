machine Server { start state S { on Ping do (client: machine) { send client, Pong; assert Yes != No; } } }
