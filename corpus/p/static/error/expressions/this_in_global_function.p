fun F(): machine { return this; } //~ this-outside-machine @27
