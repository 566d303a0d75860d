module A = A; //~ circular-module
