//! Module expressions, tests and implementations.

use super::super::ast::{Decl, Module, ModuleId, ModuleKind, Name, Test, TestParam, TestValue, Wise};
use super::super::lexer::Tok;
use super::super::words;
use super::{Parsed, Parser, Span};
use crate::codes;

impl Parser<'_> {
    pub(super) fn module(&mut self) -> Parsed<ModuleId> {
        self.nested(Self::module_inner)
    }

    fn module_inner(&mut self) -> Parsed<ModuleId> {
        let start = self.span();
        let token = self.token();
        let kind = match token.tok {
            Tok::LParen => {
                self.bump();
                let inner = self.module()?;
                self.expect(Tok::RParen)?;
                return Ok(inner);
            }
            Tok::LBrace => {
                self.bump();
                let mut bindings = vec![self.binding()?];
                while self.eat(Tok::Comma) {
                    bindings.push(self.binding()?);
                }
                self.expect(Tok::RBrace)?;
                ModuleKind::Primitive(bindings)
            }
            Tok::Name => ModuleKind::Named(self.name("a module")?.symbol),
            Tok::Word => match token.symbol {
                words::COMPOSE | words::UNION => {
                    self.bump();
                    // Without parentheses an inner list takes all it can.
                    let mut parts = vec![self.module()?];
                    self.expect(Tok::Comma)?;
                    parts.push(self.module()?);
                    while self.eat(Tok::Comma) {
                        parts.push(self.module()?);
                    }
                    match token.symbol {
                        words::COMPOSE => ModuleKind::Compose(parts),
                        _ => ModuleKind::Union(parts),
                    }
                }
                words::HIDEE => {
                    self.bump();
                    let events = self.event_refs(false)?;
                    self.expect_word(words::IN)?;
                    ModuleKind::HideEvents(events, self.module()?)
                }
                words::HIDEI => {
                    self.bump();
                    let names = self.name_list("an interface")?;
                    self.expect_word(words::IN)?;
                    ModuleKind::HideInterfaces(names, self.module()?)
                }
                words::ASSERT => {
                    self.bump();
                    let names = self.name_list("a spec")?;
                    self.expect_word(words::IN)?;
                    ModuleKind::Assert(names, self.module()?)
                }
                words::RENAME => {
                    self.bump();
                    let from = self.name("an interface")?;
                    self.expect_word(words::TO)?;
                    let to = self.name("an interface")?;
                    self.expect_word(words::IN)?;
                    ModuleKind::Rename(from, to, self.module()?)
                }
                words::MAIN => {
                    self.bump();
                    let machine = self.name("a machine")?;
                    self.expect_word(words::IN)?;
                    ModuleKind::Main(machine, self.module()?)
                }
                _ => return Err(self.expected("a module")),
            },
            _ => return Err(self.expected("a module")),
        };
        let span = self.since(start);
        Ok(self.tree.modules.push(Module { kind, span }))
    }

    fn binding(&mut self) -> Parsed<(Name, Option<Name>)> {
        let machine = self.name("a machine")?;
        let interface = if self.eat(Tok::Arrow) { Some(self.name("an interface")?) } else { None };
        Ok((machine, interface))
    }

    /// `"[" "main" "=" M "]"`
    fn main(&mut self) -> Parsed<Name> {
        self.expect(Tok::LBracket)?;
        self.expect_word(words::MAIN)?;
        self.expect(Tok::Assign)?;
        let main = self.name("the main machine")?;
        self.expect(Tok::RBracket)?;
        Ok(main)
    }

    pub(super) fn test(&mut self) -> Parsed<Decl> {
        self.bump();
        let mut params = Vec::new();
        let mut params_span = None;
        if self.at_word(words::PARAM) {
            let start = self.span();
            self.bump();
            self.expect(Tok::LParen)?;
            params.push(self.test_param()?);
            while self.eat(Tok::Comma) {
                params.push(self.test_param()?);
            }
            self.expect(Tok::RParen)?;
            params_span = Some(self.since(start));
        }
        let assume = if self.eat_word(words::ASSUME) { Some(self.expr()?) } else { None };
        let wise = self.wise()?;
        let name = self.name("the name of a test")?;
        let main = self.main()?;
        self.expect(Tok::Colon)?;
        let module = self.module()?;
        let refines = if self.eat_word(words::REFINES) { Some(self.module()?) } else { None };
        self.expect_semi("the test")?;
        Ok(Decl::Test(Test { name, main, module, refines, params, params_span, assume, wise }))
    }

    fn wise(&mut self) -> Parsed<Option<Wise>> {
        let start = self.span();
        if self.eat_word(words::PAIRWISE) {
            return Ok(Some(Wise::Pairwise(start)));
        }
        if self.eat(Tok::LParen) {
            let (k, _) = self.int()?;
            self.expect_word(words::WISE)?;
            self.expect(Tok::RParen)?;
            return Ok(Some(Wise::Wise(k, self.since(start))));
        }
        Ok(None)
    }

    fn test_param(&mut self) -> Parsed<TestParam> {
        let name = self.name("the name of a parameter")?;
        self.expect_word(words::IN)?;
        self.expect(Tok::LBracket)?;
        let mut values = vec![self.test_value()?];
        while self.eat(Tok::Comma) {
            values.push(self.test_value()?);
        }
        self.expect(Tok::RBracket)?;
        Ok(TestParam { name, values })
    }

    fn test_value(&mut self) -> Parsed<(TestValue, Span)> {
        let start = self.span();
        if self.eat_word(words::TRUE) {
            return Ok((TestValue::Bool(true), start));
        }
        if self.eat_word(words::FALSE) {
            return Ok((TestValue::Bool(false), start));
        }
        let is_negative = self.eat(Tok::Minus);
        if !self.at(Tok::Int) {
            return Err(self.fail(
                codes::SYNTAX_ERROR,
                self.span(),
                "the values of a test parameter are integers or booleans",
                "write them out: `[1, 2, -3]` or `[true, false]`",
            ));
        }
        let (value, _) = self.int()?;
        let value = if is_negative { -value } else { value };
        Ok((TestValue::Int(value), self.since(start)))
    }

    pub(super) fn implementation(&mut self) -> Parsed<Decl> {
        self.bump();
        let name = self.name("the name of an implementation")?;
        let main = if self.at(Tok::LBracket) { Some(self.main()?) } else { None };
        self.expect(Tok::Colon)?;
        let module = self.module()?;
        self.expect_semi("the implementation")?;
        Ok(Decl::Implementation { name, main, module })
    }
}
