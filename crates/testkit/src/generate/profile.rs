//! What random programs are made of.

/// Sizes and shares of features. Shares are in percent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Profile {
    pub name: &'static str,
    /// Machine declarations besides the main one.
    pub machines: (usize, usize),
    /// How many of each of these the main machine makes.
    pub copies: (usize, usize),
    /// Control states of a machine.
    pub states: (usize, usize),
    /// Events that machines send each other.
    pub events: (usize, usize),
    pub monitors: (usize, usize),
    /// Statements of a handler.
    pub statements: (usize, usize),
    /// Messages that a start entry sends.
    pub opening_sends: (usize, usize),
    /// How an event is met in a control state. The rest is `do`.
    pub defer: u32,
    pub ignore: u32,
    pub on_goto: u32,
    pub unhandled: u32,
    /// Handlers of `do` that take the payload.
    pub reads: u32,
    /// Weights of statements.
    pub send: u32,
    pub announce: u32,
    pub assign: u32,
    pub collection: u32,
    pub branch: u32,
    pub repeat: u32,
    pub receive: u32,
    pub call: u32,
    pub create: u32,
    pub assert: u32,
    /// Handlers that end in `raise`, `goto`, or with the machine halted.
    pub raise: u32,
    pub goto: u32,
    pub halt: u32,
    /// Control states with a null handler.
    pub null_handler: u32,
    /// Control states with an exit function.
    pub exit: u32,
    /// Expressions that are a choice.
    pub choice: u32,
    /// Control states of monitors that are hot.
    pub hot: u32,
    /// Uses of a reference that might be null without asking first.
    pub careless: u32,
    /// Machines that do something for ever, see `Role`.
    pub roles: u32,
    /// Sends that would have to be paid for and are not.
    pub unpaid: u32,
    /// Fields, payloads and parameters that are collections of collections and tuples.
    pub nested: u32,
}

const MIXED: Profile = Profile {
    name: "mixed",
    machines: (1, 3),
    copies: (1, 1),
    states: (1, 3),
    events: (3, 5),
    monitors: (0, 2),
    statements: (1, 3),
    opening_sends: (1, 3),
    defer: 18,
    ignore: 10,
    on_goto: 14,
    unhandled: 2,
    reads: 85,
    send: 40,
    announce: 9,
    assign: 24,
    collection: 6,
    branch: 12,
    repeat: 4,
    receive: 5,
    call: 8,
    create: 4,
    assert: 6,
    raise: 6,
    goto: 14,
    halt: 3,
    null_handler: 4,
    exit: 15,
    choice: 6,
    hot: 12,
    careless: 3,
    roles: 0,
    unpaid: 0,
    nested: 0,
};

/// The profiles that differential tests go through in turn.
pub const ALL: &[Profile] = &[
    MIXED,
    Profile {
        name: "defer",
        states: (2, 3),
        defer: 40,
        ignore: 15,
        goto: 30,
        on_goto: 20,
        unhandled: 1,
        assert: 2,
        ..MIXED
    },
    Profile { name: "receive", receive: 18, call: 24, defer: 12, unhandled: 1, ..MIXED },
    Profile { name: "monitors", monitors: (1, 2), announce: 26, assert: 3, unhandled: 1, hot: 20, ..MIXED },
    Profile {
        name: "data",
        machines: (1, 2),
        collection: 30,
        branch: 20,
        repeat: 12,
        call: 20,
        choice: 10,
        statements: (1, 4),
        unhandled: 1,
        ..MIXED
    },
    Profile { name: "creation", machines: (2, 3), create: 16, opening_sends: (0, 2), unhandled: 1, ..MIXED },
    Profile { name: "halt", halt: 16, raise: 16, exit: 40, receive: 7, unhandled: 1, ..MIXED },
    Profile {
        name: "null",
        null_handler: 45,
        goto: 45,
        on_goto: 25,
        states: (2, 3),
        monitors: (1, 1),
        machines: (1, 2),
        announce: 30,
        opening_sends: (0, 2),
        ..MIXED
    },
    // What reductions live on: machines made alike whose references go round, payloads that are never read.
    Profile {
        name: "alike",
        machines: (1, 1),
        copies: (2, 3),
        states: (1, 2),
        events: (2, 3),
        statements: (1, 2),
        opening_sends: (0, 1),
        defer: 8,
        unhandled: 1,
        announce: 14,
        assert: 3,
        ..MIXED
    },
    Profile { name: "unread", reads: 30, defer: 30, on_goto: 24, receive: 10, unhandled: 1, ..MIXED },
    // Values of which code reads some parts, some elements, or no order.
    Profile {
        name: "nested",
        machines: (1, 2),
        states: (1, 2),
        events: (2, 4),
        opening_sends: (1, 2),
        collection: 40,
        repeat: 14,
        call: 14,
        defer: 12,
        unhandled: 1,
        nested: 60,
        ..MIXED
    },
];

const ENDLESS_MIXED: Profile = Profile {
    name: "endless",
    machines: (1, 2),
    states: (1, 2),
    events: (2, 3),
    monitors: (0, 1),
    statements: (0, 2),
    opening_sends: (0, 1),
    send: 18,
    unhandled: 1,
    create: 1,
    choice: 4,
    roles: 70,
    unpaid: 20,
    ..MIXED
};

/// Programs whose inboxes may have no bound.
pub const ENDLESS: &[Profile] = &[
    ENDLESS_MIXED,
    Profile { name: "endless roles", roles: 100, unpaid: 0, send: 6, ..ENDLESS_MIXED },
    Profile {
        name: "endless defer",
        states: (2, 3),
        defer: 35,
        goto: 30,
        on_goto: 25,
        unpaid: 5,
        ..ENDLESS_MIXED
    },
    Profile {
        name: "endless monitors",
        monitors: (1, 2),
        announce: 20,
        assert: 3,
        unpaid: 5,
        ..ENDLESS_MIXED
    },
    Profile { name: "endless receive", receive: 14, call: 12, unpaid: 5, ..ENDLESS_MIXED },
    Profile { name: "endless null", null_handler: 40, announce: 12, unpaid: 40, roles: 40, ..ENDLESS_MIXED },
    Profile { name: "endless halt", halt: 12, raise: 12, exit: 30, unpaid: 10, ..ENDLESS_MIXED },
    Profile { name: "endless messages", unpaid: 60, roles: 20, monitors: (0, 0), ..ENDLESS_MIXED },
];
