//! Tests and implementations.

use allways_base::{Diagnostic, Severity, Span};

use super::Checker;
use super::modules::{DEFAULT_PROGRAM, ModuleCache, ModuleValue};
use super::params::{Assignment, expanded_name};
use crate::FileRole;
use crate::codes;
use crate::hir::{InterfaceId, MachineId, MachineKind, Test, TestKind};
use crate::syntax::ast::{self, Decl, Name};
use crate::syntax::words;

impl<'a> Checker<'a> {
    pub(super) fn check_modules_and_tests(&mut self) -> Vec<Test> {
        let mut cache = ModuleCache::default();
        self.check_modules(&mut cache);
        let mut tests = Vec::new();
        let mut is_declared = false;
        for (tree_idx, tree) in self.trees.iter().enumerate() {
            let role = self.inputs[tree_idx].role;
            if role == FileRole::ForeignBodies {
                continue;
            }
            for decl in &tree.decls {
                match decl {
                    Decl::Test(_) if role == FileRole::Included => {}
                    Decl::Test(test) => {
                        is_declared = true;
                        self.check_test(&mut cache, tree, test, &mut tests);
                    }
                    Decl::Implementation { name, main, module } => {
                        is_declared = true;
                        self.check_implementation(&mut cache, tree, *name, *main, *module, &mut tests);
                    }
                    _ => {}
                }
            }
        }
        if !is_declared {
            self.default_test(&mut tests);
        }
        self.canonicalize_program();
        tests
    }

    fn check_test(
        &mut self,
        cache: &mut ModuleCache,
        tree: &'a ast::Tree,
        test: &'a ast::Test,
        tests: &mut Vec<Test>,
    ) {
        let value = self.module(cache, tree, test.module);
        if let Some(refines) = test.refines {
            self.module(cache, tree, refines);
            let span = tree.modules[refines].span;
            self.report(
                Diagnostic::error(
                    codes::UNSUPPORTED_MODULE,
                    span,
                    "refinement tests are not supported; they have never worked in P either",
                )
                .help("write a spec for what the module must do, and attach it with `assert`"),
            );
            return;
        }
        let assignments = self.expand(tree, test);
        let Some(value) = value else { return };
        let text = self.text(test.name.symbol).to_owned();
        let is_closed = self.check_closed(&value, test.name.span, &format!("the test `{text}`"));
        if value.is_broken {
            return;
        }
        let Some((main, main_interface)) = self.main_machine(&value, test.main, Severity::Error) else {
            return;
        };
        let Some(assignments) = assignments else { return };
        if !is_closed {
            return;
        }
        let is_reported = matches!(test.wise, Some(ast::Wise::Pairwise(_))) && test.params.len() < 2;
        if assignments.is_empty() && !is_reported {
            self.report(
                Diagnostic::warning(
                    codes::NO_TEST_CASES,
                    test.name.span,
                    format!("the test `{text}` expands to no test case"),
                )
                .note("no combination of values satisfies its assumption"),
            );
        }
        for assignment in assignments {
            let name = expanded_name(self, self.symbols.text(test.name.symbol), &assignment);
            tests.push(self.test_case(
                name,
                test.name.span,
                TestKind::Test,
                (main, main_interface),
                assignment,
                value.clone(),
            ));
        }
    }

    fn test_case(
        &self,
        name: String,
        span: Span,
        kind: TestKind,
        (main, main_interface): (MachineId, InterfaceId),
        params: Assignment,
        mut value: ModuleValue,
    ) -> Test {
        self.attach_scenarios(&mut value);
        Test { name, span, kind, main, main_interface, params, system: value.into_system() }
    }

    /// The machine that starts a test, and the interface under which it is bound. If it cannot start anything,
    /// that is reported as `severity` asks.
    fn main_machine(
        &mut self,
        value: &ModuleValue,
        name: Name,
        severity: Severity,
    ) -> Option<(MachineId, InterfaceId)> {
        let text = self.text(name.symbol).to_owned();
        let known = self.globals.machines.get(&name.symbol).copied();
        let main = match known.filter(|&id| self.machines[id].kind == MachineKind::Machine) {
            Some(main) => main,
            None if severity == Severity::Error => return self.lookup_machine(name).and(None),
            None => {
                let message = format!("there is no machine `{text}`, so this cannot be run");
                self.report(Diagnostic::new(severity, codes::BAD_MAIN, message).at(name.span, ""));
                return None;
            }
        };
        let own = self.machines[main].interface.filter(|i| value.bindings.get(i) == Some(&main));
        let bound =
            own.or_else(|| value.bindings.iter().find(|&(_, &m)| m == main).map(|(&interface, _)| interface));
        let Some(interface) = bound else {
            self.report(
                Diagnostic::new(
                    severity,
                    codes::BAD_MAIN,
                    format!("the main machine `{text}` is not in the module"),
                )
                .at(name.span, "")
                .help("add it to the module expression"),
            );
            return None;
        };
        if !self.takes_nothing(main) {
            let ty = self.show(self.machines[main].constructor);
            let declared = self.machines[main].span;
            self.report(
                Diagnostic::new(
                    severity,
                    codes::BAD_MAIN,
                    format!("the main machine `{text}` takes `{ty}`, but nothing is passed to it"),
                )
                .at(name.span, "")
                .also(declared, "its start state's entry has a parameter"),
            );
            return None;
        }
        Some((main, interface))
    }

    fn check_implementation(
        &mut self,
        cache: &mut ModuleCache,
        tree: &'a ast::Tree,
        name: Name,
        main: Option<Name>,
        module: ast::ModuleId,
        tests: &mut Vec<Test>,
    ) {
        let Some(value) = self.module(cache, tree, module) else { return };
        let text = self.text(name.symbol).to_owned();
        if !self.check_closed(&value, name.span, &format!("the implementation `{text}`")) {
            return;
        }
        // Without a main machine there is nothing to run; P does not ask for one.
        let Some(main) = main else { return };
        if value.is_broken {
            return;
        }
        // P does not look at it until the program runs.
        if let Some(main) = self.main_machine(&value, main, Severity::Warning) {
            let text = self.symbols.text(name.symbol).to_owned();
            tests.push(self.test_case(text, name.span, TestKind::Implementation, main, Vec::new(), value));
        }
    }

    /// A program without tests gets one when it has a machine `Main`.
    fn default_test(&mut self, tests: &mut Vec<Test>) {
        let Some(&main) = self.globals.machines.get(&words::MAIN_MACHINE) else { return };
        let machine = &self.machines[main];
        let (MachineKind::Machine, Some(interface)) = (machine.kind, machine.interface) else { return };
        let span = machine.span;
        let value = self.default_module();
        if !self.check_closed(&value, span, DEFAULT_PROGRAM) {
            return;
        }
        if !self.takes_nothing(main) {
            return self.report_default_main(span);
        }
        let name = "DefaultImpl".to_owned();
        tests.push(self.test_case(name, span, TestKind::Default, (main, interface), Vec::new(), value));
    }

    fn report_default_main(&mut self, span: Span) {
        self.report(
            Diagnostic::warning(
                codes::BAD_MAIN,
                span,
                "`Main` takes a parameter, so the program cannot be run without a test",
            )
            .help("declare a test, or remove the parameter of the entry of its start state"),
        );
    }
}
