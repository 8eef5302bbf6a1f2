//! The process: arguments, environment, ids, clock, signals, exit.

use std::collections::HashMap;
use std::ffi::CStr;
use std::os::fd::AsFd;
use std::str::FromStr;
use std::time::Instant;

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rquickjs::{Ctx, Object, Result, function::Func};

use crate::descriptors::{errno, keep, named, with};

/// The argument of a program that only waits for a signal.
pub const WAIT: &CStr = c"wait-for-signal";

/// Waits for a signal of those that end a container.
pub fn wait() {
    let mut set = SigSet::empty();
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        set.add(signal);
    }
    let _ = set.thread_block();
    let _ = set.wait();
}

pub fn register(native: &Object, start: Instant) -> Result<()> {
    native.set("arguments", Func::from(arguments))?;
    native.set("environment", Func::from(environment))?;
    native.set("userId", Func::from(|| nix::unistd::getuid().as_raw()))?;
    native.set("groupId", Func::from(|| nix::unistd::getgid().as_raw()))?;
    native.set("now", Func::from(move || start.elapsed().as_secs_f64() * 1000.0))?;
    native.set("exit", Func::from(exit))?;
    native.set("signals", Func::from(signals))?;
    native.set("readSignal", Func::from(read_signal))?;
    native.set("waitForSignal", Func::from(wait_for_signal))
}

fn exit(code: i32) {
    std::process::exit(code)
}

/// The same program without an engine. Blocked signals stay blocked, so none is lost.
fn wait_for_signal() {
    let _ = nix::unistd::execv(c"/proc/self/exe", &[c"cni-gate-validator", WAIT]);
}

fn arguments() -> Vec<String> {
    std::env::args_os().skip(1).map(|text| text.to_string_lossy().into_owned()).collect()
}

fn environment() -> HashMap<String, String> {
    std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
        .collect()
}

/// A descriptor that is readable when a signal arrived. A blocked signal reaches even the first process of a container,
/// for which the kernel drops signals without a handler.
fn signals(ctx: Ctx, names: Vec<String>) -> Result<i32> {
    let mut set = SigSet::empty();
    for name in names {
        set.add(named(&ctx, Signal::from_str(&name))?);
    }
    named(&ctx, set.thread_block())?;
    let arriving = named(&ctx, SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC))?;
    named(&ctx, arriving.as_fd().try_clone_to_owned().map_err(errno)).map(keep)
}

fn read_signal(ctx: Ctx, descriptor: i32) -> Result<String> {
    let mut info = [0; size_of::<libc::signalfd_siginfo>()];
    named(&ctx, with(descriptor, |open| nix::unistd::read(open, &mut info)))?;
    // `ssi_signo` is the first field: signalfd(2)
    let number = u32::from_ne_bytes([info[0], info[1], info[2], info[3]]);
    Ok(named(&ctx, Signal::try_from(number as i32))?.as_str().to_owned())
}
