//! The process: arguments, environment, ids, clock, exit.

use std::collections::HashMap;
use std::time::Instant;

use crate::signals;
use rquickjs::{Object, Result, function::Func};

pub fn register(native: &Object, start: Instant) -> Result<()> {
    native.set("arguments", Func::from(arguments))?;
    native.set("environment", Func::from(environment))?;
    native.set("userId", Func::from(|| nix::unistd::getuid().as_raw()))?;
    native.set("groupId", Func::from(|| nix::unistd::getgid().as_raw()))?;
    native.set("now", Func::from(move || start.elapsed().as_secs_f64() * 1000.0))?;
    native.set("exit", Func::from(exit))?;
    native.set("waitForSignal", Func::from(wait_for_signal))
}

fn exit(code: i32) {
    std::process::exit(code)
}

/// The same program without an engine. Blocked signals stay blocked, so none is lost.
fn wait_for_signal() {
    let _ = nix::unistd::execv(c"/proc/self/exe", &[c"cni-gate-validator", signals::WAIT]);
}

fn arguments() -> Vec<String> {
    std::env::args_os().skip(1).map(|text| text.to_string_lossy().into_owned()).collect()
}

fn environment() -> HashMap<String, String> {
    std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
        .collect()
}
