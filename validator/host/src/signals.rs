//! Signals, as something that can be read. A blocked signal reaches even the first process of a container, for which
//! the kernel drops signals without a handler.

use std::ffi::CStr;
use std::os::fd::AsFd;
use std::str::FromStr;

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rquickjs::{Ctx, Object, Result, function::Func};

use crate::descriptors::{keep, with};
use crate::errors::{errno, named};

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

pub fn register(native: &Object) -> Result<()> {
    native.set("signals", Func::from(signals))?;
    native.set("readSignal", Func::from(read_signal))
}

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
