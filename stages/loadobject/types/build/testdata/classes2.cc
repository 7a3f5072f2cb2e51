namespace geo { struct Base { virtual void touch(); long id; }; inline struct Shape *newest; struct Shape;
struct Only { Shape *shape; Base base; } only;
namespace { struct Hidden { long other; } hidden; } }
long hidden() { return geo::hidden.other++; }
geo::Shape *get() { return geo::newest; }
