include "other.p" //~ removed-syntax
