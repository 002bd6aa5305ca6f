//! Decisions of the plan, one by one.

use crate::support::{KernelBuilder, OpBuilder};

#[test]
fn smoke() {
    let program = KernelBuilder::new("").op(OpBuilder::aiv(8)).op(OpBuilder::aic(8)).op(OpBuilder::mix(4)).plan();
    println!("{}", program.text());
    println!("{}", superkernel::emit::emit(&program).unwrap());
    let program = KernelBuilder::new("stream-fusion=1:profiling=1")
        .op(OpBuilder::aiv(8))
        .op(OpBuilder::aic(8).on(1))
        .op(OpBuilder::mix(4))
        .plan();
    println!("{}", program.text());
    println!("{}", superkernel::emit::emit(&program).unwrap());
}
