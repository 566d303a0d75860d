(exists (c: Client) :: c == Server.last || Server.last is Server) || sizeof(Server.jobs) == 0 || Watch is Calm
