// A reader learns: the key 2 that is looked up, the keys that are there, and who sent the order for it.
event eOrder: (customer: int, item: int);

machine Shop {
  var prices: map[int, int];
  var revenue: int;
  start state Open {
    entry { prices[1] = 20; prices[3] = 35; }
    on eOrder do (order: (customer: int, item: int)) { revenue = revenue + prices[order.item]; }
  }
}

machine Main {
  start state Begin {
    entry {
      var shop: Shop;
      shop = new Shop();
      send shop, eOrder, (customer = 7, item = 1);
      send shop, eOrder, (customer = 8, item = 1 + choose(3));
    }
  }
}
