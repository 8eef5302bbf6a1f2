//! Errors of the system, as `native.ts` promises them: exceptions whose message is the error's name.

use nix::errno::Errno;
use rquickjs::{Ctx, Exception, Result};

/// The result of a call, or an exception with the name of its error.
pub fn named<T>(ctx: &Ctx, result: std::result::Result<T, impl Into<Errno>>) -> Result<T> {
    result.map_err(|error| Exception::throw_message(ctx, &format!("{:?}", error.into())))
}

/// The error of a call of the standard library.
pub fn errno(error: std::io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::EINVAL, Errno::from_raw)
}
