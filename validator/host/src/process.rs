//! The process: arguments, environment, user and group, clock, signals, and exit.

use std::collections::HashMap;
use std::ffi::{CStr, CString, OsString};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rquickjs::{Ctx, Object, Result, function::Func};

use crate::descriptors::{errno, keep, named, on};

/// The argument that makes the program only wait: see `rest`.
pub const WAIT: &CStr = c"wait-for-signal";

/// The signals that end a container.
fn ending() -> SigSet {
    SigSet::from_iter([Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP])
}

/// Blocks the signals of `ending`, for signalfd. Otherwise the kernel would drop them in a container's PID 1.
pub fn block_signals() {
    let _ = ending().thread_block();
}

/// Accepts and closes connections until a signal arrives, and then returns. When the time is over, the process becomes
/// the same program with other arguments. `arguments` follow `WAIT`: the listeners, separated by commas; the
/// milliseconds (without a limit if this number is negative); and the arguments of the next program.
pub fn rest(arguments: &[OsString]) {
    let text = |index: usize| arguments.get(index).map(|text| text.to_string_lossy()).unwrap_or_default();
    let listeners: Vec<i32> = text(0).split(',').filter_map(|number| number.parse().ok()).collect();
    let end = text(1).parse().ok().map(|milliseconds| Instant::now() + Duration::from_millis(milliseconds));
    let Ok(signals) = SignalFd::with_flags(&ending(), SfdFlags::SFD_CLOEXEC) else { return };
    loop {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            let next = arguments.iter().skip(2).map(|text| text.as_bytes());
            return become_program(next);
        }
        // rounded up, so that the poll does not end before the time is over
        let timeout = left.map_or(PollTimeout::NONE, |left| {
            PollTimeout::try_from(left.as_millis() + 1).unwrap_or(PollTimeout::MAX)
        });
        let mut asked = vec![PollFd::new(signals.as_fd(), PollFlags::POLLIN)];
        // SAFETY: nothing closes these descriptors before the next program
        let open = listeners.iter().map(|&number| unsafe { BorrowedFd::borrow_raw(number) });
        asked.extend(open.map(|listener| PollFd::new(listener, PollFlags::POLLIN)));
        let _ = poll(&mut asked, timeout);
        let happened = |seen: &PollFd| seen.any().unwrap_or(true);
        if happened(&asked[0]) {
            return;
        }
        for (&listener, _) in listeners.iter().zip(&asked[1..]).filter(|(_, seen)| happened(seen)) {
            let _ = nix::sys::socket::accept(listener).map(nix::unistd::close);
        }
    }
}

/// Starts the same program again in this process. No signal is lost, because blocked signals stay blocked.
/// Returns only if the start fails.
fn become_program<'a>(arguments: impl Iterator<Item = &'a [u8]>) {
    let name = c"cni-gate-validator".to_owned();
    let arguments = arguments.map(|text| CString::new(text).unwrap_or_default());
    let all: Vec<CString> = std::iter::once(name).chain(arguments).collect();
    let _ = nix::unistd::execv(c"/proc/self/exe", &all);
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
    native.set("rest", Func::from(become_rest))?;
    native.set("adopt", Func::from(adopt))
}

fn exit(code: i32) {
    std::process::exit(code)
}

/// Starts the same program again in this process, to run `rest` without an engine. Only listeners stay open.
fn become_rest(ctx: Ctx, listeners: Vec<i32>, milliseconds: f64, next: Vec<String>) -> Result<()> {
    for &listener in &listeners {
        // SAFETY: changes only the flags of an open descriptor
        on(&ctx, listener, |open| Errno::result(unsafe { libc::fcntl(open.as_raw_fd(), libc::F_SETFD, 0) }))?;
    }
    let listeners: Vec<String> = listeners.iter().map(i32::to_string).collect();
    let mut all = vec![WAIT.to_string_lossy().into_owned(), listeners.join(","), milliseconds.to_string()];
    all.extend(next);
    become_program(all.iter().map(|text| text.as_bytes()));
    Ok(())
}

/// Takes over a descriptor that the previous program left open.
fn adopt(number: i32) -> i32 {
    // SAFETY: the caller knows the number of a descriptor that nothing else in this program uses
    keep(unsafe { OwnedFd::from_raw_fd(number) })
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
    on(&ctx, descriptor, |open| nix::unistd::read(open, &mut info))?;
    // `ssi_signo` is the first field: signalfd(2)
    let number = u32::from_ne_bytes([info[0], info[1], info[2], info[3]]);
    Ok(named(&ctx, Signal::try_from(number as i32))?.as_str().to_owned())
}
