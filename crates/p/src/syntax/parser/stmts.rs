//! Statements.

use allways_base::{Diagnostic, Span};

use super::super::ast::{Case, Damage, ExprId, Stmt, StmtId, StmtKind, Var};
use super::super::lexer::Tok;
use super::super::words;
use super::{Failed, Parsed, Parser};
use crate::codes;

impl Parser<'_> {
    /// Statements up to and with the closing brace of the block that `open` began. A variable declared too late
    /// is reported, and declared all the same: in `vars` or, in an inner block, in those of the function.
    pub(super) fn stmts(&mut self, mut vars: Option<&mut Vec<Var>>, open: Span) -> Parsed<Vec<StmtId>> {
        let mut stmts = Vec::new();
        while !self.at(Tok::RBrace) {
            if self.at(Tok::Eof) || self.begins_outside() {
                self.never_closed("block", open);
                self.damaged(Damage::Declarations);
                return Err(Failed);
            }
            let start = self.pos;
            if self.at_word(words::VAR) {
                let mut late = Vec::new();
                let span = self.span();
                let parsed = self.var_decl(&mut late);
                let message = match vars {
                    Some(_) => "variables are declared before the first statement of a function",
                    None => "an inner block cannot declare variables",
                };
                self.report(
                    Diagnostic::error(codes::LATE_DECLARATION, span, message)
                        .help("move the declaration to the beginning of the function body"),
                );
                match &mut vars {
                    Some(vars) => vars.extend(late),
                    None => self.late_vars.extend(late),
                }
                if parsed.is_ok() {
                    continue;
                }
                self.damaged(Damage::Declarations);
            } else if let Ok(stmt) = self.stmt() {
                stmts.push(stmt);
                continue;
            }
            self.damaged(Damage::Statements);
            self.recover(start, |p| p.begins_stmt() || p.begins_outside(), Self::begins_outside);
            if self.pos == start {
                self.bump();
            }
        }
        self.bump();
        Ok(stmts)
    }

    /// Words that cannot stand in a function body.
    pub(super) fn begins_outside(&self) -> bool {
        let token = self.token();
        self.begins_scenario() && self.on_new_line() && self.nth_is_word(2, words::OBSERVES)
            || token.tok == Tok::Word
                && self.on_new_line()
                && !self.is_used_like_a_name()
                && matches!(
                    token.symbol,
                    words::STATE
                        | words::START
                        | words::HOT
                        | words::COLD
                        | words::FUN
                        | words::SPEC
                        | words::MODULE
                        | words::TEST
                        | words::ENTRY
                        | words::EXIT
                        | words::ON
                        | words::DEFER
                        | words::IGNORE
                        | words::TYPE
                        | words::ENUM
                        | words::EVENTSET
                        | words::INTERFACE
                        | words::IMPLEMENTATION
                        | words::MACHINE
                        | words::EVENT
                        | words::CASE
                )
    }

    /// Whether what begins here is changed or called.
    fn is_used_like_a_name(&self) -> bool {
        match self.nth(1).tok {
            Tok::Assign | Tok::PlusAssign | Tok::MinusAssign | Tok::Dot | Tok::LBracket => true,
            Tok::LParen => !matches!(self.token().symbol, words::ENTRY | words::FUN),
            _ => false,
        }
    }

    /// At a reserved word that begins no statement, and that is called or assigned to.
    fn at_place_of_a_name(&self) -> bool {
        let symbol = self.token().symbol;
        !self.taken_words.contains(&symbol)
            && !self.begins_stmt()
            && !matches!(
                symbol,
                words::NEW
                    | words::ELSE
                    | words::TRUE
                    | words::FALSE
                    | words::NULL
                    | words::HALT
                    | words::THIS
                    | words::KEYS
                    | words::VALUES
                    | words::SIZEOF
                    | words::DEFAULT
                    | words::CHOOSE
                    | words::FORMAT
                    | words::FLOAT
            )
            && self.is_used_like_a_name()
    }

    /// At the call of a function, also of one whose name is a reserved word that begins no statement.
    fn at_call(&self) -> bool {
        let is_taken = || {
            let symbol = self.token().symbol;
            self.at(Tok::Word)
                && self.taken_words.contains(&symbol)
                && !self.begins_stmt()
                && !matches!(symbol, words::NEW | words::ELSE)
        };
        self.nth(1).tok == Tok::LParen && (self.at(Tok::Name) || is_taken())
    }

    pub(super) fn begins_stmt(&self) -> bool {
        let token = self.token();
        match token.tok {
            Tok::LBrace => true,
            Tok::Name => self.on_new_line(),
            Tok::Word => matches!(
                token.symbol,
                words::ASSERT
                    | words::ASSUME
                    | words::PRINT
                    | words::RETURN
                    | words::BREAK
                    | words::CONTINUE
                    | words::WHILE
                    | words::FOREACH
                    | words::IF
                    | words::RAISE
                    | words::SEND
                    | words::ANNOUNCE
                    | words::GOTO
                    | words::RECEIVE
                    | words::VAR
            ),
            _ => false,
        }
    }

    fn stmt(&mut self) -> Parsed<StmtId> {
        self.nested(Self::stmt_inner)
    }

    fn stmt_inner(&mut self) -> Parsed<StmtId> {
        let start = self.span();
        let kind = self.stmt_kind()?;
        let span = self.since(start);
        Ok(self.tree.stmts.push(Stmt { kind, span }))
    }

    fn stmt_kind(&mut self) -> Parsed<StmtKind> {
        let token = self.token();
        match token.tok {
            Tok::LBrace => {
                let open = self.span();
                self.bump();
                Ok(StmtKind::Block(self.stmts(None, open)?))
            }
            Tok::Semi => {
                self.bump();
                Ok(StmtKind::Empty)
            }
            Tok::Name if self.nth(1).tok == Tok::LParen && self.symbols.text(token.symbol) == "for" => {
                self.for_loop()
            }
            Tok::Name | Tok::Word if self.at_call() => {
                let name = self.name("a function")?;
                self.bump();
                let args = self.args()?;
                self.expect_semi("the call")?;
                Ok(StmtKind::Call(name, args))
            }
            Tok::Name => self.update(),
            Tok::Word if self.at_taken_name() && self.is_used_like_a_name() => self.update(),
            // A reserved word in the place of a name that comes later, or from elsewhere.
            Tok::Word if self.at_place_of_a_name() => {
                self.take_word("a name");
                self.stmt_kind()
            }
            Tok::Word => self.keyword_stmt(token.symbol),
            _ => Err(self.expected("a statement")),
        }
    }

    fn keyword_stmt(&mut self, word: allways_base::Symbol) -> Parsed<StmtKind> {
        match word {
            words::ASSERT | words::ASSUME => {
                self.bump();
                let cond = self.expr()?;
                let message = if self.eat(Tok::Comma) { Some(self.expr()?) } else { None };
                self.expect_semi("the statement")?;
                Ok(match word {
                    words::ASSERT => StmtKind::Assert(cond, message),
                    _ => StmtKind::Assume(cond, message),
                })
            }
            words::PRINT => {
                self.bump();
                let text = self.expr()?;
                if self.at(Tok::Comma) {
                    return Err(self.fail(
                        codes::REMOVED_SYNTAX,
                        self.span(),
                        "`print` takes one string",
                        "write `print format(\"...\", arguments);`",
                    ));
                }
                self.expect_semi("the statement")?;
                Ok(StmtKind::Print(text))
            }
            words::RETURN => {
                self.bump();
                let value = if self.at(Tok::Semi) { None } else { Some(self.expr()?) };
                self.expect_semi("`return`")?;
                Ok(StmtKind::Return(value))
            }
            words::BREAK => {
                self.bump();
                self.expect_semi("`break`")?;
                Ok(StmtKind::Break)
            }
            words::CONTINUE => {
                self.bump();
                self.expect_semi("`continue`")?;
                Ok(StmtKind::Continue)
            }
            words::WHILE => {
                self.bump();
                let cond = self.condition()?;
                Ok(StmtKind::While(cond, self.stmt()?))
            }
            words::FOREACH => self.foreach(),
            words::IF => self.if_stmt(),
            words::NEW => {
                self.bump();
                let name = self.name("a machine or interface")?;
                self.expect(Tok::LParen)?;
                let args = self.args()?;
                self.expect_semi("the creation")?;
                Ok(StmtKind::New(name, args))
            }
            words::RAISE => {
                self.bump();
                let event = self.expr()?;
                let args = self.payload()?;
                self.expect_semi("`raise`")?;
                Ok(StmtKind::Raise(event, args))
            }
            words::SEND => {
                self.bump();
                let target = self.expr()?;
                if self.at(Tok::Semi) {
                    return Err(self.fail(
                        codes::SYNTAX_ERROR,
                        self.span(),
                        "`send` needs an event after the target",
                        "write `send target, event;`",
                    ));
                }
                self.expect(Tok::Comma)?;
                let event = self.expr()?;
                let args = self.payload()?;
                self.expect_semi("`send`")?;
                Ok(StmtKind::Send(target, event, args))
            }
            words::ANNOUNCE => {
                self.bump();
                let event = self.expr()?;
                let args = self.payload()?;
                self.expect_semi("`announce`")?;
                Ok(StmtKind::Announce(event, args))
            }
            words::GOTO => {
                self.bump();
                let state = self.name("a state")?;
                let args = self.payload()?;
                self.expect_semi("`goto`")?;
                Ok(StmtKind::Goto(state, args))
            }
            words::RECEIVE => self.receive(),
            words::ELSE => Err(self.fail(
                codes::SYNTAX_ERROR,
                self.span(),
                "this `else` belongs to no `if`",
                "an `if` has one statement before its `else`; use braces for several",
            )),
            _ => Err(self.expected("a statement")),
        }
    }

    /// `( "," args )?`
    fn payload(&mut self) -> Parsed<Vec<ExprId>> {
        let mut args = Vec::new();
        while self.eat(Tok::Comma) {
            args.push(self.expr()?);
        }
        Ok(args)
    }

    fn condition(&mut self) -> Parsed<ExprId> {
        self.expect(Tok::LParen)?;
        let cond = self.expr()?;
        self.refuse_assignment()?;
        self.expect(Tok::RParen)?;
        Ok(cond)
    }

    fn foreach(&mut self) -> Parsed<StmtKind> {
        self.bump();
        self.expect(Tok::LParen)?;
        let item = self.name("the loop variable")?;
        self.expect_word(words::IN)?;
        let collection = self.expr()?;
        self.expect(Tok::RParen)?;
        self.loop_invariants()?;
        Ok(StmtKind::Foreach { item, collection, body: self.stmt()? })
    }

    /// `for (...)` of other languages: reported as a whole, then the body is parsed as usual.
    fn for_loop(&mut self) -> Parsed<StmtKind> {
        self.fail(
            codes::SYNTAX_ERROR,
            self.span(),
            "there is no `for` loop in P",
            "use `while (condition) { ... }`, or `foreach (x in s) { ... }` over a seq or set",
        );
        self.damaged(Damage::Statements);
        self.bump();
        let mut depth = 0usize;
        loop {
            match self.tok() {
                Tok::LParen => depth += 1,
                Tok::RParen => depth -= 1,
                Tok::LBrace | Tok::RBrace | Tok::Eof => break,
                _ => {}
            }
            self.bump();
            if depth == 0 {
                break;
            }
        }
        Ok(StmtKind::Block(vec![self.stmt()?]))
    }

    fn if_stmt(&mut self) -> Parsed<StmtKind> {
        let mut arms = Vec::new();
        loop {
            self.bump();
            let cond = self.condition()?;
            arms.push((cond, self.stmt()?));
            if !self.eat_word(words::ELSE) {
                return Ok(StmtKind::If { arms, otherwise: None });
            }
            if !self.at_word(words::IF) {
                return Ok(StmtKind::If { arms, otherwise: Some(self.stmt()?) });
            }
        }
    }

    /// A statement that begins with a name: `x.f[i] = e;` and the like.
    fn update(&mut self) -> Parsed<StmtKind> {
        let start = self.span();
        let first = self.token();
        if matches!(first.symbol, words::POP | words::PUSH)
            && matches!(self.nth(1).tok, Tok::Semi | Tok::Name)
        {
            let message = format!("`{}` was removed from P", self.symbols.text(first.symbol));
            return Err(self.fail(codes::REMOVED_SYNTAX, start, &message, "use `goto` or `raise`"));
        }
        let place = self.postfix_expr()?;
        match self.tok() {
            Tok::Assign => {
                self.bump();
                let value = self.expr()?;
                self.expect_semi("the assignment")?;
                Ok(StmtKind::Assign(place, value))
            }
            Tok::PlusAssign => {
                self.bump();
                self.insert_or_add(place)
            }
            Tok::MinusAssign => {
                self.bump();
                let key = self.expr()?;
                self.expect_semi("the removal")?;
                Ok(StmtKind::Remove(place, key))
            }
            Tok::EqEq => Err(self.fail(
                codes::SYNTAX_ERROR,
                self.span(),
                "a comparison is not a statement",
                "write `=` to assign",
            )),
            Tok::Plus | Tok::Minus if self.nth(1).tok == self.tok() => Err(self.fail(
                codes::SYNTAX_ERROR,
                self.span().to(self.span_of(self.nth(1))),
                "there is no `++` and no `--` in P",
                "write `x = x + 1;`",
            )),
            Tok::Star | Tok::Slash | Tok::Percent if self.nth(1).tok == Tok::Assign => {
                let op = self.found();
                let op = op.trim_matches('`');
                let message = format!("there is no `{op}=` in P");
                let help = format!("write `x = x {op} y;`");
                let span = self.span().to(self.span_of(self.nth(1)));
                Err(self.fail(codes::SYNTAX_ERROR, span, &message, &help))
            }
            _ => Err(self.expected("`=`, `+=` or `-=`")),
        }
    }

    fn insert_or_add(&mut self, place: ExprId) -> Parsed<StmtKind> {
        if !self.at(Tok::LParen) {
            return Err(self.fail(
                codes::COLLECTION_UPDATE,
                self.span(),
                "`+=` puts elements into collections and needs parentheses",
                "write `s += (index, value);`, `m += (key, value);` or `t += (value);`; to add numbers write `x = x + y;`",
            ));
        }
        self.bump();
        let first = self.expr()?;
        if self.eat(Tok::Comma) {
            let value = self.expr()?;
            if self.at(Tok::Comma) {
                return Err(self.fail(
                    codes::COLLECTION_UPDATE,
                    self.span(),
                    "`+=` takes a key and a value, not more",
                    "to add a tuple to a set write `t += ((a, b, c));`",
                ));
            }
            self.expect(Tok::RParen)?;
            self.expect_semi("the insertion")?;
            return Ok(StmtKind::Insert(place, first, value));
        }
        self.expect(Tok::RParen)?;
        if !self.at(Tok::Semi) && !self.on_new_line() && !self.at(Tok::RBrace) {
            return Err(self.fail(
                codes::COLLECTION_UPDATE,
                self.span(),
                "nothing may follow the parentheses of `+=`",
                "put the whole expression into the parentheses; to add numbers write `x = x + y;`",
            ));
        }
        self.expect_semi("the insertion")?;
        Ok(StmtKind::Add(place, first))
    }

    fn receive(&mut self) -> Parsed<StmtKind> {
        self.bump();
        self.open_brace(|p| p.at_word(words::CASE))?;
        let mut cases = Vec::new();
        loop {
            let span = self.span();
            self.expect_word(words::CASE)?;
            let events = self.event_refs(true)?;
            self.expect(Tok::Colon)?;
            let handler = match self.anonymous_fun() {
                Ok(handler) => handler,
                // The body lacks its closing brace.
                Err(Failed) if self.at_word(words::CASE) => continue,
                Err(Failed) => return Err(Failed),
            };
            cases.push(Case { events, handler, span });
            if self.eat(Tok::RBrace) {
                return Ok(StmtKind::Receive(cases));
            }
        }
    }
}
