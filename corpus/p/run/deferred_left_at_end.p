// expect: holds
event eA;
machine Main { start state Wait { defer eA; entry { send this, eA; send this, eA; } } }
