//! Declarations: the top level of a file, machines, states, functions.

use allways_base::Diagnostic;

use super::super::ast::{
    AnonymousFun, Body, Damage, Decl, Fun, Handler, Machine, MachineKind, Member, State, StateItem,
    StateItemKind, Temperature, Var,
};
use super::super::lexer::Tok;
use super::super::words;
use super::{Failed, Parsed, Parser};
use crate::codes;

impl Parser<'_> {
    pub(super) fn file(&mut self) {
        loop {
            match self.tok() {
                Tok::Eof => break,
                Tok::RBrace if self.is_unbalanced => {
                    self.bump();
                    continue;
                }
                Tok::Semi => {
                    self.stray_semicolon("a declaration at the top level does not end with `;` after `}`");
                    continue;
                }
                _ => {}
            }
            let start = self.pos;
            self.is_unbalanced &= !self.begins_decl();
            self.too_deep = false;
            match self.decl() {
                Ok(decl) => self.tree.decls.push(decl),
                Err(Failed) => {
                    self.damaged(Damage::Declarations);
                    self.depth = 0;
                    self.in_proof = 0;
                    if self.pos == start {
                        self.skip_misplaced(Self::begins_decl);
                        self.eat(Tok::RBrace);
                        continue;
                    }
                    let is_next = |p: &Self| p.begins_decl() && !p.at_word(words::FUN);
                    self.recover(start, Self::begins_decl, is_next);
                    // No declaration begins with a brace: it is the body of the broken one.
                    if self.at(Tok::LBrace) {
                        self.recover(start, Self::begins_decl, is_next);
                    }
                    // A closing brace at the top level belongs to nothing.
                    if self.eat(Tok::RBrace) {
                        self.eat(Tok::Semi);
                    }
                }
            }
        }
    }

    fn stray_semicolon(&mut self, why: &str) {
        let span = self.span();
        while self.eat(Tok::Semi) {}
        let span = span.to(self.prev_span());
        self.report(
            Diagnostic::error(codes::STRAY_SEMICOLON, span, "this `;` ends nothing")
                .note(why)
                .help("remove it"),
        );
    }

    /// Whether a declaration of the top level may begin here. Used to find the way back after a mistake.
    fn begins_decl(&self) -> bool {
        let token = self.token();
        let is_fresh = self.on_new_line()
            || self.pos == 0
            || matches!(self.tokens[self.pos - 1].tok, Tok::Semi | Tok::RBrace);
        match token.tok {
            _ if !is_fresh => false,
            Tok::Word => match token.symbol {
                words::TYPE
                | words::ENUM
                | words::EVENTSET
                | words::INTERFACE
                | words::SPEC
                | words::FUN
                | words::MODULE
                | words::TEST
                | words::IMPLEMENTATION => true,
                words::EVENT | words::MACHINE | words::PARAM => self.nth(1).tok == Tok::Name,
                _ => false,
            },
            Tok::Name => self.begins_scenario() || self.begins_proof_decl(),
            _ => false,
        }
    }

    /// `scenario` is a name unless the name of a scenario follows.
    pub(super) fn begins_scenario(&self) -> bool {
        self.at_word(words::SCENARIO) && matches!(self.nth(1).tok, Tok::Name | Tok::Word)
    }

    fn decl(&mut self) -> Parsed<Decl> {
        let token = self.token();
        if token.tok == Tok::Name && self.begins_proof_decl() {
            return self.proof_decl();
        }
        if self.begins_scenario() {
            return self.machine(MachineKind::Scenario);
        }
        if token.tok != Tok::Word {
            return Err(self.no_decl());
        }
        match token.symbol {
            words::TYPE => {
                self.bump();
                let name = self.name("the name of a type")?;
                let definition = if self.eat(Tok::Assign) { Some(self.type_()?) } else { None };
                self.expect_semi("the type")?;
                Ok(Decl::Type { name, definition })
            }
            words::ENUM => self.enum_decl(),
            words::EVENT => {
                self.bump();
                let name = self.name("the name of an event")?;
                self.queue_bound()?;
                let payload = if self.eat(Tok::Colon) { Some(self.type_()?) } else { None };
                self.expect_semi("the event")?;
                Ok(Decl::Event { name, payload })
            }
            words::EVENTSET => {
                self.bump();
                let name = self.name("the name of an event set")?;
                self.expect(Tok::Assign)?;
                self.expect(Tok::LBrace)?;
                let events = self.event_refs(false)?;
                self.expect(Tok::RBrace)?;
                self.expect_semi("the event set")?;
                Ok(Decl::EventSet { name, events })
            }
            words::INTERFACE => {
                self.bump();
                let name = self.name("the name of an interface")?;
                self.expect(Tok::LParen)?;
                let constructor = if self.at(Tok::RParen) { None } else { Some(self.type_()?) };
                self.expect(Tok::RParen)?;
                self.expect_word(words::RECEIVES)?;
                let receives = if self.at(Tok::Semi) { Vec::new() } else { self.event_refs(false)? };
                self.expect_semi("the interface")?;
                Ok(Decl::Interface { name, constructor, receives })
            }
            words::MACHINE => self.machine(MachineKind::Machine),
            words::SPEC => self.machine(MachineKind::Spec),
            words::FUN => Ok(Decl::Fun(self.fun()?)),
            words::MODULE => {
                self.bump();
                let name = self.name("the name of a module")?;
                self.expect(Tok::Assign)?;
                let module = self.module()?;
                self.expect_semi("the module")?;
                Ok(Decl::Module { name, module })
            }
            words::TEST => self.test(),
            words::IMPLEMENTATION => self.implementation(),
            words::PARAM => {
                self.bump();
                let names = self.name_list("the name of a parameter")?;
                self.expect(Tok::Colon)?;
                let ty = self.type_()?;
                self.expect_semi("the parameter")?;
                Ok(Decl::Param { names, ty })
            }
            _ => Err(self.no_decl()),
        }
    }

    fn no_decl(&mut self) -> Failed {
        let token = self.token();
        let span = self.span();
        let word = match token.tok {
            Tok::Name | Tok::Word => self.symbols.text(token.symbol),
            _ => "",
        };
        match word {
            "model" | "static" | "extern" | "monitor" | "include" => {
                let message = format!("`{word}` declarations were removed from P");
                let help = match word {
                    "include" => "list the files in the project file",
                    "monitor" => "write `spec NAME observes EVENTS { ... }`",
                    _ => "write a `machine` or a `fun`",
                };
                self.fail(codes::REMOVED_SYNTAX, span, &message, help)
            }
            "state" | "start" | "hot" | "cold" | "entry" | "exit" | "on" | "defer" | "ignore" | "var" => {
                if std::mem::replace(&mut self.is_unbalanced, true) {
                    return Failed;
                }
                let message = format!("`{word}` is only allowed inside a machine or spec");
                self.fail(codes::SYNTAX_ERROR, span, &message, "check the braces above this line")
            }
            _ if token.tok == Tok::RBrace => self.fail(
                codes::SYNTAX_ERROR,
                span,
                "this `}` closes nothing",
                "remove it, or add the missing `{`",
            ),
            _ => {
                let what = "a declaration (`machine`, `spec`, `event`, `type`, `fun`, `test`, ...)";
                match self.mistyped_word(what) {
                    Some(word) => self.misplaced(what, &format!("did you mean `{word}`?")),
                    None => self.misplaced(what, "if this is part of a machine, check the braces above it"),
                }
            }
        }
    }

    fn enum_decl(&mut self) -> Parsed<Decl> {
        self.bump();
        let name = self.name("the name of an enum")?;
        self.expect(Tok::LBrace)?;
        let mut elements: Vec<(super::Name, Option<i64>)> = Vec::new();
        loop {
            let element = self.name("the name of an enum element")?;
            let value = if self.eat(Tok::Assign) { Some(self.int()?.0) } else { None };
            if elements.first().is_some_and(|(_, first)| first.is_some() != value.is_some()) {
                return Err(self.fail(
                    codes::SYNTAX_ERROR,
                    element.span,
                    "some elements of this enum have a number and some have none",
                    "number all of them or none",
                ));
            }
            elements.push((element, value));
            if !self.eat(Tok::Comma) {
                break;
            }
            if self.at(Tok::RBrace) {
                let comma = self.prev_span();
                return Err(self.fail(
                    codes::SYNTAX_ERROR,
                    comma,
                    "nothing follows this comma",
                    "remove the comma",
                ));
            }
        }
        self.expect(Tok::RBrace)?;
        Ok(Decl::Enum { name, elements })
    }

    /// `assert N` or `assume N` behind an event or machine name: a queue bound of older versions.
    fn queue_bound(&mut self) -> Parsed<()> {
        while (self.at_word(words::ASSERT) || self.at_word(words::ASSUME)) && self.nth(1).tok == Tok::Int {
            let start = self.span();
            self.bump();
            self.int()?;
            let span = self.since(start);
            let message = "queue bounds were removed from P";
            let diagnostic = if self.dialect.strict {
                Diagnostic::error(codes::LEGACY_QUEUE_BOUND, span, message)
            } else {
                Diagnostic::warning(codes::LEGACY_QUEUE_BOUND, span, message)
                    .label("this bound is ignored")
                    .note("the compiler of P 3 rejects the file; `--strict` does the same")
            };
            self.report(diagnostic.help("remove the bound"));
        }
        Ok(())
    }

    fn machine(&mut self, kind: MachineKind) -> Parsed<Decl> {
        self.bump();
        let what = match kind {
            MachineKind::Machine => "the name of a machine",
            MachineKind::Spec => "the name of a spec",
            MachineKind::Scenario => "the name of a scenario",
        };
        let name = self.name(what)?;
        let mut machine = Machine {
            kind,
            name,
            receives: None,
            sends: None,
            observes: Vec::new(),
            vars: Vec::new(),
            members: Vec::new(),
        };
        if kind == MachineKind::Machine {
            self.queue_bound()?;
            loop {
                let is_receives = self.at_word(words::RECEIVES);
                if !is_receives && !self.at_word(words::SENDS) {
                    break;
                }
                self.bump();
                let events = if self.at(Tok::Semi) { Vec::new() } else { self.event_refs(false)? };
                self.expect_semi("the list of events")?;
                let list = if is_receives { &mut machine.receives } else { &mut machine.sends };
                list.get_or_insert_default().extend(events);
            }
        } else {
            self.expect_word(words::OBSERVES)?;
            machine.observes = self.event_refs(false)?;
        }
        let open = self.open_brace(Self::begins_member)?;
        while !self.eat(Tok::RBrace) {
            if self.at(Tok::Eof) || self.begins_next_decl() {
                self.never_closed("machine", open);
                self.damaged(Damage::Declarations);
                break;
            }
            if self.at(Tok::Semi) {
                self.stray_semicolon("members of a machine do not end with `;` after `}`");
                continue;
            }
            let start = self.pos;
            if let Err(Failed) = self.member(&mut machine) {
                self.damaged(Damage::Declarations);
                let is_next = |p: &Self| p.begins_member() || p.begins_next_decl();
                if self.pos == start {
                    self.skip_misplaced(is_next);
                } else {
                    self.recover(start, is_next, is_next);
                }
            }
        }
        Ok(Decl::Machine(machine))
    }

    /// At a declaration that cannot be part of a machine: the closing brace is missing.
    fn begins_next_decl(&self) -> bool {
        self.on_new_line() && self.begins_decl() && !self.at_word(words::FUN)
    }

    fn begins_member(&self) -> bool {
        [words::VAR, words::FUN, words::STATE, words::START, words::HOT, words::COLD]
            .iter()
            .any(|&word| self.at_word(word))
    }

    fn member(&mut self, machine: &mut Machine) -> Parsed<()> {
        if self.at_word(words::VAR) {
            self.var_decl(&mut machine.vars)?;
            return Ok(());
        }
        if self.at_word(words::FUN) {
            let fun = self.fun()?;
            machine.members.push(Member::Fun(fun));
            return Ok(());
        }
        if self.begins_member() {
            let state = self.state(machine)?;
            machine.members.push(Member::State(state));
            return Ok(());
        }
        let token = self.token();
        if token.tok == Tok::Name && ["group", "model", "static"].contains(&self.symbols.text(token.symbol)) {
            let message = format!("`{}` of older versions of P is gone", self.symbols.text(token.symbol));
            return Err(self.fail(codes::REMOVED_SYNTAX, self.span(), &message, "states of P 3 are flat"));
        }
        Err(self.misplaced(
            "a variable, function or state of the machine",
            "statements belong in functions and handlers in states; check the braces above",
        ))
    }

    /// `var a, b: T;`
    pub(super) fn var_decl(&mut self, vars: &mut Vec<Var>) -> Parsed<()> {
        self.expect_word(words::VAR)?;
        let names = self.name_list("the name of a variable")?;
        self.expect(Tok::Colon)?;
        let ty = self.type_()?;
        vars.extend(names.into_iter().map(|name| Var { name, ty }));
        if self.at(Tok::Assign) {
            return Err(self.fail(
                codes::NO_INITIALIZER,
                self.span(),
                "a variable cannot be given a value where it is declared",
                "assign it in a statement after the declarations",
            ));
        }
        self.expect_semi("the variable")
    }

    fn state(&mut self, machine: &mut Machine) -> Parsed<State> {
        let start = if self.at_word(words::START) {
            let token = self.bump();
            Some(self.span_of(token))
        } else {
            None
        };
        let temperature = if self.eat_word(words::HOT) {
            Temperature::Hot
        } else if self.eat_word(words::COLD) {
            Temperature::Cold
        } else {
            Temperature::Warm
        };
        if self.at_word(words::START) {
            return Err(self.fail(
                codes::SYNTAX_ERROR,
                self.span(),
                "`start` comes first",
                "write `start hot state` or `start cold state`",
            ));
        }
        self.expect_word(words::STATE)?;
        let name = self.name("the name of a state")?;
        let open = self.open_brace(Self::begins_state_item)?;
        let mut items = Vec::new();
        while !self.eat(Tok::RBrace) {
            if self.at(Tok::Eof) || self.begins_next_decl() {
                self.never_closed("state", open);
                self.damaged(Damage::Declarations);
                break;
            }
            if self.begins_member() {
                self.member_in_state(machine)?;
                continue;
            }
            if self.at(Tok::Semi) {
                self.stray_semicolon("items of a state do not end with `;` after `}`");
                continue;
            }
            let pos = self.pos;
            match self.state_item() {
                Ok(item) => items.push(item),
                Err(Failed) => {
                    self.damaged(Damage::Declarations);
                    let is_next =
                        |p: &Self| p.begins_state_item() || p.begins_member() || p.begins_next_decl();
                    if self.pos == pos {
                        self.skip_misplaced(is_next);
                    } else {
                        self.recover(pos, is_next, is_next);
                    }
                }
            }
        }
        Ok(State { start, temperature, name, items })
    }

    /// A state, function or variable inside a state: either it was meant so, or a brace is missing. It is taken
    /// as a member of the machine; in the second case the machine will seem to lack its end.
    fn member_in_state(&mut self, machine: &mut Machine) -> Parsed<()> {
        self.damaged(Damage::Declarations);
        if !std::mem::replace(&mut self.is_unbalanced, true) {
            let what = match self.token().symbol {
                words::FUN => "a function",
                words::VAR => "a variable",
                _ => "a state",
            };
            self.report(
                Diagnostic::error(
                    codes::SYNTAX_ERROR,
                    self.span(),
                    format!("{what} is not allowed inside a state"),
                )
                .help("close the state above with `}`, and declare this in the machine"),
            );
        }
        self.nested(|p| p.member(machine))
    }

    fn begins_state_item(&self) -> bool {
        [words::ENTRY, words::EXIT, words::DEFER, words::IGNORE, words::ON].iter().any(|&w| self.at_word(w))
    }

    fn state_item(&mut self) -> Parsed<StateItem> {
        let span = self.span();
        let kind = if self.eat_word(words::ENTRY) {
            StateItemKind::Entry(self.handler("the entry function")?)
        } else if self.eat_word(words::EXIT) {
            if self.at(Tok::LParen) {
                return Err(self.fail(
                    codes::SYNTAX_ERROR,
                    self.span(),
                    "an exit function takes no parameter",
                    "remove the parameter",
                ));
            }
            StateItemKind::Exit(self.handler("the exit function")?)
        } else if self.eat_word(words::DEFER) {
            let events = self.event_refs(false)?;
            self.expect_semi("the deferred events")?;
            StateItemKind::Defer(events)
        } else if self.eat_word(words::IGNORE) {
            let events = self.event_refs(false)?;
            self.expect_semi("the ignored events")?;
            StateItemKind::Ignore(events)
        } else if self.eat_word(words::ON) {
            let events = self.event_refs(true)?;
            if self.eat_word(words::DO) {
                StateItemKind::Do(events, self.handler("the handler")?)
            } else if self.eat_word(words::GOTO) {
                let target = self.name("a state")?;
                let with = if self.eat_word(words::WITH) {
                    Some(self.handler("the transition function")?)
                } else {
                    self.expect_semi("the transition")?;
                    None
                };
                StateItemKind::Goto(events, target, with)
            } else if self.at_word(words::PUSH) {
                return Err(self.fail(
                    codes::REMOVED_SYNTAX,
                    self.span(),
                    "`push` transitions were removed from P",
                    "use `goto`",
                ));
            } else {
                return Err(self.expected("`do` or `goto`"));
            }
        } else {
            return Err(self.misplaced(
                "`entry`, `exit`, `on`, `defer` or `ignore`",
                "in a state, statements belong in `entry`, `exit` and handlers; check the braces above",
            ));
        };
        Ok(StateItem { kind, span })
    }

    /// A function in place, or the name of one and `;`.
    fn handler(&mut self, what: &str) -> Parsed<Handler> {
        if self.at(Tok::LBrace) || self.at(Tok::LParen) || self.begins_code() {
            return Ok(Handler::Anonymous(self.anonymous_fun()?));
        }
        if self.at(Tok::Name) {
            let name = self.name("a function")?;
            self.expect_semi(what)?;
            return Ok(Handler::Named(name));
        }
        Err(self.expected("`{`, a parameter in parentheses, or the name of a function"))
    }

    /// At the content of a function body, its brace being missing.
    fn begins_code(&self) -> bool {
        let is_update = |tok| {
            matches!(
                tok,
                Tok::Assign | Tok::PlusAssign | Tok::MinusAssign | Tok::LParen | Tok::LBracket | Tok::Dot
            )
        };
        match self.tok() {
            Tok::Name => is_update(self.nth(1).tok),
            _ => self.at_word(words::VAR) || self.begins_stmt(),
        }
    }

    /// `( "(" x : T ")" )? body`
    pub(super) fn anonymous_fun(&mut self) -> Parsed<AnonymousFun> {
        let mut param = None;
        if self.eat(Tok::LParen) {
            if self.at(Tok::RParen) {
                return Err(self.fail(
                    codes::SYNTAX_ERROR,
                    self.prev_span().to(self.span()),
                    "the parentheses of a handler hold its parameter",
                    "remove the parentheses, or write `(payload: T)`",
                ));
            }
            param = Some(self.param()?);
            if self.at(Tok::Comma) {
                return Err(self.fail(
                    codes::SYNTAX_ERROR,
                    self.span(),
                    "a handler has at most one parameter",
                    "take the payload as one tuple and use its fields",
                ));
            }
            self.expect(Tok::RParen)?;
        }
        Ok(AnonymousFun { param, body: self.body()? })
    }

    fn param(&mut self) -> Parsed<Var> {
        let name = self.name("the name of a parameter")?;
        self.expect(Tok::Colon)?;
        Ok(Var { name, ty: self.type_()? })
    }

    /// Parameters up to and with the closing parenthesis.
    pub(super) fn params(&mut self) -> Parsed<Vec<Var>> {
        let mut params = Vec::new();
        if !self.at(Tok::RParen) {
            params.push(self.param()?);
            while self.eat(Tok::Comma) {
                self.no_trailing_comma()?;
                params.push(self.param()?);
            }
        }
        self.expect(Tok::RParen)?;
        Ok(params)
    }

    fn fun(&mut self) -> Parsed<Fun> {
        self.bump();
        let name = self.name("the name of a function")?;
        self.expect(Tok::LParen)?;
        let params = self.params()?;
        let mut fun = Fun { name, params, result: None, body: None, creates: None };
        if self.eat(Tok::Colon) {
            fun.result = Some(self.type_()?);
        }
        let begins_contract = words::is_proof_word(self.token().symbol)
            || self.at_word(words::RETURN) && self.nth(1).tok == Tok::LParen;
        if self.at(Tok::LBrace) || self.begins_code() && !begins_contract {
            fun.body = Some(self.body()?);
            return Ok(fun);
        }
        if self.eat_word(words::CREATES) {
            fun.creates = Some(self.name("an interface")?);
            self.expect_semi("the foreign function")?;
            return Ok(fun);
        }
        if self.eat(Tok::Semi) {
            return Ok(fun);
        }
        if fun.result.is_none() {
            return self.contract(fun);
        }
        if self.on_new_line() {
            return Err(self.missing_behind("`{` or `;`"));
        }
        Err(self.expected("`{` or `;`"))
    }

    /// `{ var...; statements }`
    pub(super) fn body(&mut self) -> Parsed<Body> {
        self.nested(Self::body_inner)
    }

    fn body_inner(&mut self) -> Parsed<Body> {
        let open = self.open_brace(Self::begins_code)?;
        let mut vars = Vec::new();
        let outer_late = std::mem::take(&mut self.late_vars);
        while self.at_word(words::VAR) {
            let start = self.pos;
            if let Err(Failed) = self.var_decl(&mut vars) {
                self.damaged(Damage::Declarations);
                self.recover(start, Self::begins_stmt, Self::begins_outside);
            }
        }
        let stmts = self.stmts(Some(&mut vars), open);
        vars.append(&mut std::mem::replace(&mut self.late_vars, outer_late));
        let stmts = stmts?;
        Ok(Body { vars, stmts, span: self.since(open) })
    }
}
