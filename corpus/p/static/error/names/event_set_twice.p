event A;
eventset Es = { A };
eventset Es = { A }; //~ duplicate-name
