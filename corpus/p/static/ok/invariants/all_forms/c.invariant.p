1 in Server.jobs ==> Server.jobs[1].size > 0 && (Server.jobs[1]).id == 1;
