//! The open sockets and pipes, which TypeScript refers to by number; `poll`, the only function that waits for
//! events; and system errors as `native.ts` describes them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use rquickjs::{Ctx, Exception, Object, Result, TypedArray, function::Func};

thread_local! {
    static OPEN: RefCell<BTreeMap<i32, OwnedFd>> = const { RefCell::new(BTreeMap::new()) };
}

/// The maximum number of bytes that one read returns.
const CHUNK: usize = 4096;

pub fn register(native: &Object) -> Result<()> {
    native.set("read", Func::from(read))?;
    native.set(
        "close",
        Func::from(|descriptor: i32| drop(OPEN.with_borrow_mut(|open| open.remove(&descriptor)))),
    )?;
    native.set("poll", Func::from(wait))
}

/// Keeps a descriptor open until TypeScript closes it.
pub fn keep(descriptor: OwnedFd) -> i32 {
    let number = descriptor.as_raw_fd();
    OPEN.with_borrow_mut(|open| open.insert(number, descriptor));
    number
}

/// Calls a function with an open descriptor.
pub fn with<T>(descriptor: i32, act: impl FnOnce(BorrowedFd) -> nix::Result<T>) -> nix::Result<T> {
    OPEN.with_borrow(|open| act(open.get(&descriptor).ok_or(Errno::EBADF)?.as_fd()))
}

/// Like `with`, but an error becomes an exception.
pub fn on<T>(ctx: &Ctx, descriptor: i32, act: impl FnOnce(BorrowedFd) -> nix::Result<T>) -> Result<T> {
    named(ctx, with(descriptor, act))
}

/// Copies the bytes of an array.
pub fn bytes_of(array: &TypedArray<u8>) -> Vec<u8> {
    // SAFETY: no JavaScript runs before the bytes are copied, so the array stays unchanged
    unsafe { array.as_bytes() }.unwrap_or_default().to_vec()
}

fn read(ctx: Ctx<'_>, descriptor: i32) -> Result<TypedArray<'_, u8>> {
    let mut bytes = vec![0; CHUNK];
    let count = on(&ctx, descriptor, |open| nix::unistd::read(open, &mut bytes))?;
    bytes.truncate(count);
    TypedArray::new(ctx, bytes)
}

/// Waits for an event of any of the descriptors, for at most `milliseconds` (-1: without a limit).
fn wait(ctx: Ctx, descriptors: Vec<i32>, wanted: Vec<i16>, milliseconds: i32) -> Result<Vec<i16>> {
    OPEN.with_borrow(|open| {
        let asked: Option<Vec<PollFd>> = descriptors
            .iter()
            .zip(wanted)
            .map(|(number, events)| {
                Some(PollFd::new(open.get(number)?.as_fd(), PollFlags::from_bits_truncate(events)))
            })
            .collect();
        let mut asked = named(&ctx, asked.ok_or(Errno::EBADF))?;
        let timeout = PollTimeout::try_from(milliseconds).unwrap_or(PollTimeout::NONE);
        match poll(&mut asked, timeout) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return named(&ctx, Err(error)),
        }
        Ok(asked.iter().map(|seen| seen.revents().map_or(0, |events| events.bits())).collect())
    })
}

/// The value of a result, or an exception with the error's name as its message.
pub fn named<T>(ctx: &Ctx, result: std::result::Result<T, impl Into<Errno>>) -> Result<T> {
    result.map_err(|error| Exception::throw_message(ctx, &format!("{:?}", error.into())))
}

/// The system error code in an error of the standard library.
pub fn errno(error: std::io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::EINVAL, Errno::from_raw)
}
