//! The validator's program. It runs the bundle of checks on QuickJS, and provides the functions of `native.ts`.
//! TypeScript decides what to try, and how to judge the results.

mod datagrams;
mod descriptors;
mod files;
mod names;
mod process;
mod routes;
mod sockets;

use std::process::ExitCode;

use rquickjs::context::intrinsic::{Json, MapSet, Promise, RegExp, RegExpCompiler, TypedArrays};
use rquickjs::{CatchResultExt, CaughtError, Context, Ctx, Function, Module, Object, Result, Runtime};

/// The parts of JavaScript's library that the checks use. More parts would cost time and memory in each pod.
type Library = (Json, MapSet, Promise, RegExp, RegExpCompiler, TypedArrays);

/// The bundle of `validator/main.ts`, compiled by `build.rs`.
static CHECKS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/validator.bytecode"));

/// The engine's stack size: the default of a Rust thread, and less than the 8 MiB of a process's main thread.
const STACK: usize = 2 << 20;

/// The exit code if the checks cannot run at all: `exitCode.notPossible` of `contract.ts`.
const DEFECT: u8 = 69;

fn main() -> ExitCode {
    // after `execve` of `/proc/self/exe`, the kernel calls the process `exe`
    let _ = nix::sys::prctl::set_name(c"cni-gate-validator");
    process::block_signals();
    let start = std::time::Instant::now();
    let arguments: Vec<_> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|word| word.as_encoded_bytes() == process::WAIT.to_bytes()) {
        process::rest(&arguments[2..]);
        return ExitCode::SUCCESS;
    }
    let runtime = Runtime::new().expect("memory for the engine");
    runtime.set_max_stack_size(STACK);
    let context = Context::custom::<Library>(&runtime).expect("memory for the engine");
    context.with(|ctx| match run(&ctx, start).catch(&ctx) {
        Ok(never) => match never {},
        Err(error) => complain(&error),
    })
}

enum Never {}

/// Evaluates the bundle, then calls its function `turn` for each event. `native.exit` ends the process.
fn run(ctx: &Ctx, start: std::time::Instant) -> Result<Never> {
    let native = Object::new(ctx.clone())?;
    process::register(&native, start)?;
    files::register(&native)?;
    sockets::register(&native)?;
    datagrams::register(&native)?;
    routes::register(&native)?;
    descriptors::register(&native)?;
    names::register(&native)?;
    ctx.globals().set("native", native)?;
    // SAFETY: `build.rs` wrote the bytecode with the same version of the engine
    let checks = unsafe { Module::load(ctx.clone(), CHECKS)? };
    checks.eval()?.1.finish::<()>()?;
    let turn: Function = ctx.globals().get("turn")?;
    loop {
        while ctx.execute_pending_job() {}
        turn.call::<_, ()>(())?;
    }
}

fn complain(error: &CaughtError) -> ExitCode {
    eprintln!("a defect of the validator: {error}");
    ExitCode::from(DEFECT)
}
