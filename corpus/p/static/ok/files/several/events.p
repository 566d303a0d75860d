event Ping: machine;
event Pong;
enum Answer { Yes, No }
