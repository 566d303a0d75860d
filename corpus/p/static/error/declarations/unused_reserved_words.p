event safe; //~ reserved-word
event paramtest; //~ reserved-word
