event A; event B;
interface I() receives A;
interface J() receives A;
spec M observes A { start state S { ignore A; } }
machine Maker sends A; { start state S { entry { new I(); } } }
machine Taker receives A; sends B; { start state S { ignore A; } }
machine Other sends; { start state S { } }
module Bound = { Taker -> I };
module Both = (compose { Maker }, Bound);
module All = union Both, { Other };
module Watched = assert M in All;
module Renamed = rename I to J in Watched;
module Hidden = hidei J in Renamed;
module Marked = main Maker in Hidden;
test T [main=Maker]: Marked;
test U [main=Maker]: (assert M in (union (Both), { Other }));
