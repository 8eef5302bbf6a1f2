//! The process: arguments, environment, ids, clock, exit.

use std::collections::HashMap;
use std::time::Instant;

use rquickjs::{Object, Result, function::Func};

pub fn register(native: &Object, start: Instant) -> Result<()> {
    native.set("arguments", Func::from(arguments))?;
    native.set("environment", Func::from(environment))?;
    native.set("userId", Func::from(|| nix::unistd::getuid().as_raw()))?;
    native.set("groupId", Func::from(|| nix::unistd::getgid().as_raw()))?;
    native.set("now", Func::from(move || start.elapsed().as_secs_f64() * 1000.0))?;
    native.set("exit", Func::from(exit))
}

fn exit(code: i32) {
    std::process::exit(code)
}

fn arguments() -> Vec<String> {
    std::env::args_os().skip(1).map(|text| text.to_string_lossy().into_owned()).collect()
}

fn environment() -> HashMap<String, String> {
    std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
        .collect()
}
