// Three and five servers in a restless world.

fun Servers(n: int): seq[machine] {
  var servers: seq[machine];
  var server: machine;
  while (sizeof(servers) < n) {
    servers += (sizeof(servers), new Server(sizeof(servers)));
  }
  foreach (server in servers) {
    send server, eServers, servers;
  }
  return servers;
}

machine ThreeServers {
  start state Init {
    entry {
      new World((servers = Servers(3), timeouts = 4, heartbeats = 8, commands = 4));
    }
  }
}

machine FiveServers {
  start state Init {
    entry {
      new World((servers = Servers(5), timeouts = 6, heartbeats = 8, commands = 4));
    }
  }
}

module Raft = { Server, World };

test Three [main = ThreeServers]: assert OneLeader, SameLog in (union Raft, { ThreeServers });
test Five [main = FiveServers]: assert OneLeader, SameLog in (union Raft, { FiveServers });
