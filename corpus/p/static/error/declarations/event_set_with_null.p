event A;
eventset S = { A, null }; //~ syntax-error @19
