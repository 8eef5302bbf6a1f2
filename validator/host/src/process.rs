//! The process: arguments, environment, user and group, clock, signals, and exit.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::time::Instant;

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rquickjs::{Ctx, Object, Result, function::Func};

use crate::descriptors::{errno, keep, named, with};

/// The argument with which the program only waits for a signal.
pub const WAIT: &CStr = c"wait-for-signal";

/// The signals that end a container.
fn ending() -> SigSet {
    SigSet::from_iter([Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP])
}

/// Keeps these signals for signalfd. In a container's PID 1, the kernel would otherwise drop them.
pub fn block_signals() {
    let _ = ending().thread_block();
}

/// Waits for a signal. Meanwhile, if `address` is one, accepts and closes connections to it.
pub fn wait(address: &str) {
    if let Ok(listener) = TcpListener::bind(address) {
        let _ = std::thread::Builder::new().spawn(move || listener.incoming().for_each(drop));
    }
    let _ = ending().wait();
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

/// Replaces the process by the same program without an engine. No signal is lost, because blocked signals stay blocked.
fn wait_for_signal(address: String) {
    let address = CString::new(address).unwrap_or_default();
    let _ = nix::unistd::execv(c"/proc/self/exe", &[c"cni-gate-validator", WAIT, &address]);
}

fn arguments() -> Vec<String> {
    std::env::args_os().skip(1).map(|text| text.to_string_lossy().into_owned()).collect()
}

fn environment() -> HashMap<String, String> {
    std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
        .collect()
}

fn signals(ctx: Ctx) -> Result<i32> {
    let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
    let arriving = named(&ctx, SignalFd::with_flags(&ending(), flags))?;
    named(&ctx, arriving.as_fd().try_clone_to_owned().map_err(errno)).map(keep)
}

fn read_signal(ctx: Ctx, descriptor: i32) -> Result<String> {
    let mut info = [0; size_of::<libc::signalfd_siginfo>()];
    named(&ctx, with(descriptor, |open| nix::unistd::read(open, &mut info)))?;
    // `ssi_signo` is the first field: signalfd(2)
    let number = u32::from_ne_bytes([info[0], info[1], info[2], info[3]]);
    Ok(named(&ctx, Signal::try_from(number as i32))?.as_str().to_owned())
}
